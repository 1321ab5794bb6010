"""The one owner of tasks and live state: servers, listings, reads."""
