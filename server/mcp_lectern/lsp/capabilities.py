"""What the client can do, as plain facts, and what we register with it; must not know any feature's logic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lsprotocol import types

TRIGGERS = list('@:/-._#?=&%+~"')
"""Characters after which an editor asks again within a mention (contract 6)."""


@dataclass(frozen=True, slots=True)
class Client:
    """The client's side of the bargain. ``trigger_suggest`` is a client command that opens the list again."""

    text_document_content: bool = False
    registers_content: bool = False
    file_system: bool = False
    trusted_settings: bool = False
    trigger_suggest: str | None = None
    shows_documents: bool = False
    pulls_configuration: bool = False
    registers_configuration: bool = False
    registers_watchers: bool = False
    label_details: bool = False
    markdown_documentation: bool = False
    markdown_hover: bool = False
    status: bool = False
    trust_prompt: bool = False
    external_uri: bool = False
    secrets: bool = False
    input: bool = False
    tells_shown: bool = False
    elicitation: frozenset[str] = frozenset()
    work_done_progress: bool = False
    pulls_diagnostics: bool = False
    refreshes_tokens: bool = False
    refreshes_lenses: bool = False
    code_action_literals: bool = False
    applies_edits: bool = False
    document_changes: bool = False
    name: str = ""

    @property
    def virtual_documents(self) -> bool:
        """Whether the client can show a ``lectern:`` document."""
        return self.text_document_content or self.file_system

    @classmethod
    def of(cls, initialize: Mapping[str, Any]) -> Client:
        """Read leniently from the raw ``initialize`` parameters."""
        own = _at(initialize, "capabilities", "experimental", "lectern")
        workspace = _at(initialize, "capabilities", "workspace")
        item = _at(initialize, "capabilities", "textDocument", "completion", "completionItem")
        hover = _at(initialize, "capabilities", "textDocument", "hover")
        suggest = own.get("triggerSuggest")
        content = workspace.get("textDocumentContent")
        name = _at(initialize, "clientInfo").get("name")
        return cls(
            name=name if isinstance(name, str) else "",
            text_document_content=isinstance(content, Mapping),
            registers_content=_at(workspace, "textDocumentContent").get("dynamicRegistration") is True,
            file_system=own.get("fileSystem") is True,
            trusted_settings=own.get("trustedSettings") is True,
            trigger_suggest=suggest if isinstance(suggest, str) else None,
            shows_documents=_at(initialize, "capabilities", "window", "showDocument").get("support") is True,
            pulls_configuration=workspace.get("configuration") is True,
            registers_configuration=_at(workspace, "didChangeConfiguration").get("dynamicRegistration")
            is True,
            registers_watchers=_at(workspace, "didChangeWatchedFiles").get("dynamicRegistration") is True,
            label_details=item.get("labelDetailsSupport") is True,
            markdown_documentation="markdown" in _list(item, "documentationFormat"),
            markdown_hover="markdown" in _list(hover, "contentFormat"),
            status=own.get("status") is True,
            trust_prompt=own.get("trustPrompt") is True,
            external_uri=own.get("externalUri") is True,
            secrets=own.get("secrets") is True,
            input=own.get("input") is True,
            tells_shown=own.get("shown") is True,
            elicitation=frozenset(mode for mode in ("form", "url") if mode in _list(own, "elicitation")),
            work_done_progress=_at(initialize, "capabilities", "window").get("workDoneProgress") is True,
            pulls_diagnostics=_pulls_diagnostics(initialize),
            refreshes_tokens=_at(workspace, "semanticTokens").get("refreshSupport") is True,
            applies_edits=workspace.get("applyEdit") is True,
            document_changes=_at(workspace, "workspaceEdit").get("documentChanges") is True,
            code_action_literals="codeActionLiteralSupport"
            in _at(initialize, "capabilities", "textDocument", "codeAction"),
            refreshes_lenses=_at(workspace, "codeLens").get("refreshSupport") is True,
        )


def _pulls_diagnostics(initialize: Mapping[str, Any]) -> bool:
    """A client that cannot be told to pull again would show what was true when a server was still unknown."""
    capabilities = _at(initialize, "capabilities")
    pulls = isinstance(_at(capabilities, "textDocument").get("diagnostic"), Mapping)
    return pulls and _at(capabilities, "workspace", "diagnostics").get("refreshSupport") is True


def _at(value: Any, *path: str) -> Mapping[str, Any]:
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else {}


def _list(value: Mapping[str, Any], key: str) -> list[Any]:
    found = value.get(key)
    return found if isinstance(found, list) else []


def registrations(client: Client) -> list[types.Registration]:
    """What is registered dynamically once the client is ready."""
    wanted = []
    if client.text_document_content and client.registers_content and not client.file_system:
        content = types.TextDocumentContentRegistrationOptions(schemes=["lectern"])
        wanted.append(types.Registration("lectern-content", types.WORKSPACE_TEXT_DOCUMENT_CONTENT, content))
    if client.registers_configuration:
        section = {"section": "lectern"}
        wanted.append(
            types.Registration("lectern-configuration", types.WORKSPACE_DID_CHANGE_CONFIGURATION, section)
        )
    if client.registers_watchers:
        wanted.append(
            types.Registration("lectern-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, _watchers())
        )
    return wanted


def _watchers() -> types.DidChangeWatchedFilesRegistrationOptions:
    patterns = ("**/.vscode/mcp.json", "**/.mcp.json")
    return types.DidChangeWatchedFilesRegistrationOptions(
        watchers=[types.FileSystemWatcher(glob_pattern=pattern) for pattern in patterns]
    )


def completed(result: types.InitializeResult, client: Client) -> types.InitializeResult:
    """Add what pygls does not advertise: content served statically where the client cannot register."""
    capabilities = result.capabilities
    serves = client.text_document_content and not client.file_system
    if serves and not client.registers_content:
        capabilities.workspace = capabilities.workspace or types.WorkspaceOptions()
        capabilities.workspace.text_document_content = types.TextDocumentContentOptions(schemes=["lectern"])
    if not client.pulls_diagnostics:
        capabilities.diagnostic_provider = None
    capabilities.text_document_sync = types.TextDocumentSyncOptions(
        open_close=True, change=types.TextDocumentSyncKind.Incremental, save=False
    )
    return result
