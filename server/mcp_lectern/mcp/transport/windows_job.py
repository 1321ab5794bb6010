"""A Windows job object that holds a process and its descendants; must not be imported elsewhere.

The job is told to end its processes when its last handle closes, which the system does for us if we crash.
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import ctypes
    from ctypes import wintypes

    _EXTENDED_LIMIT_INFORMATION = 9
    _BASIC_ACCOUNTING_INFORMATION = 1
    _KILL_ON_JOB_CLOSE = 0x2000
    _SET_QUOTA_AND_TERMINATE = 0x0101

    class _BasicLimits(ctypes.Structure):
        _fields_ = (
            ("per_process_user_time", ctypes.c_int64),
            ("per_job_user_time", ctypes.c_int64),
            ("limit_flags", wintypes.DWORD),
            ("minimum_working_set", ctypes.c_size_t),
            ("maximum_working_set", ctypes.c_size_t),
            ("active_process_limit", wintypes.DWORD),
            ("affinity", ctypes.c_size_t),
            ("priority_class", wintypes.DWORD),
            ("scheduling_class", wintypes.DWORD),
        )

    class _ExtendedLimits(ctypes.Structure):
        _fields_ = (
            ("basic", _BasicLimits),
            ("io_counters", ctypes.c_uint64 * 6),
            ("process_memory", ctypes.c_size_t),
            ("job_memory", ctypes.c_size_t),
            ("peak_process_memory", ctypes.c_size_t),
            ("peak_job_memory", ctypes.c_size_t),
        )

    class _Accounting(ctypes.Structure):
        _fields_ = (
            ("times", ctypes.c_int64 * 4),
            ("page_faults", wintypes.DWORD),
            ("total_processes", wintypes.DWORD),
            ("active_processes", wintypes.DWORD),
            ("terminated_processes", wintypes.DWORD),
        )

    _kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    _kernel.CreateJobObjectW.restype = wintypes.HANDLE
    _kernel.OpenProcess.restype = wintypes.HANDLE
    _kernel.AssignProcessToJobObject.argtypes = (wintypes.HANDLE, wintypes.HANDLE)
    _kernel.TerminateJobObject.argtypes = (wintypes.HANDLE, wintypes.UINT)
    _kernel.CloseHandle.argtypes = (wintypes.HANDLE,)
    _kernel.SetInformationJobObject.argtypes = (
        wintypes.HANDLE,
        ctypes.c_int,
        ctypes.c_void_p,
        wintypes.DWORD,
    )
    _kernel.QueryInformationJobObject.argtypes = (
        wintypes.HANDLE,
        ctypes.c_int,
        ctypes.c_void_p,
        wintypes.DWORD,
        ctypes.c_void_p,
    )

    class JobTree:
        """A ``ProcessTree`` over a job object; a process started before it was put there is not caught."""

        def __init__(self, pid: int) -> None:
            self._job = _kernel.CreateJobObjectW(None, None)
            limits = _ExtendedLimits()
            limits.basic.limit_flags = _KILL_ON_JOB_CLOSE
            _kernel.SetInformationJobObject(
                self._job, _EXTENDED_LIMIT_INFORMATION, ctypes.byref(limits), ctypes.sizeof(limits)
            )
            process = _kernel.OpenProcess(_SET_QUOTA_AND_TERMINATE, False, pid)
            if process:
                _kernel.AssignProcessToJobObject(self._job, process)
                _kernel.CloseHandle(process)

        def alive(self) -> bool:
            """Whether the job has active processes."""
            if not self._job:
                return False
            accounting = _Accounting()
            _kernel.QueryInformationJobObject(
                self._job,
                _BASIC_ACCOUNTING_INFORMATION,
                ctypes.byref(accounting),
                ctypes.sizeof(accounting),
                None,
            )
            return accounting.active_processes > 0

        def terminate(self) -> None:
            """Windows has no polite signal for a process without a console: this ends the job."""
            if self._job:
                _kernel.TerminateJobObject(self._job, 1)

        def kill(self) -> None:
            """End the job and let go of it."""
            if self._job:
                _kernel.TerminateJobObject(self._job, 1)
                _kernel.CloseHandle(self._job)
                self._job = None
