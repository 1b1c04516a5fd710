"""From descriptions of clusters that others use to a configuration of ours, with nothing lost in silence."""

from hyperpod_cdk.migration.files import SourceError, Sources, read_sources
from hyperpod_cdk.migration.migrate import Migration, migrate
from hyperpod_cdk.migration.notes import Kind, Note

__all__ = ["Kind", "Migration", "Note", "SourceError", "Sources", "migrate", "read_sources"]
