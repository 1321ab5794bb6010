"""Servers' oddities as cases, played to our client and to the official SDK's; knows no documents."""
