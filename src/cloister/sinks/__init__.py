"""Where results go: a name is reserved, the output is staged beside it, and appears whole, with its certificate."""

from cloister.sinks.reservations import Reservation, reserved, reserved_outputs, set_aside
from cloister.sinks.staging import Staged, check_free, check_free_with_certificate, flush_folder, stage
from cloister.sinks.written_files import (
    CERTIFICATE_SUFFIX,
    certificate_path,
    everything_in,
    file_hash,
    file_hashes,
    written_files,
)

__all__ = [
    "CERTIFICATE_SUFFIX",
    "Reservation",
    "Staged",
    "certificate_path",
    "check_free",
    "check_free_with_certificate",
    "everything_in",
    "file_hash",
    "file_hashes",
    "flush_folder",
    "reserved",
    "reserved_outputs",
    "set_aside",
    "stage",
    "written_files",
]
