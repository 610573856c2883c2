"""What somebody without the key of a host can do to a certificate: change it, and make all of its hashes fit again."""

from __future__ import annotations

import json
from typing import Any

from cloister.privacy.certificate_json import fingerprint
from cloister.privacy.signing import HostKey

FORGER_SECRET = bytes(range(32))


def forger() -> HostKey:
    """A key of the forger's own."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    public = Ed25519PrivateKey.from_private_bytes(FORGER_SECRET).public_key()
    return HostKey(f"ed25519:{public.public_bytes_raw().hex()}", FORGER_SECRET)


def forge(text: str, change: dict[str, Any], signed: str = "forger") -> str:
    """A certificate with other fields, whose hashes fit.

    `signed`: by the ``"forger"``, ``"not"`` at all, or ``"as it was"``.
    """
    data = {**json.loads(text), **change}
    old = data.pop("signature", None)
    del data["sha256"]
    outside = ("files", "holder_files", "content")
    data["content"] = fingerprint({name: value for name, value in data.items() if name not in outside})
    if data["version"] != 1:
        signature = forger().sign("certificate", fingerprint(data))
        by = {"forger": {"key": signature.key, "value": signature.value}, "not": None, "as it was": old}
        data["signature"] = by[signed]
    return json.dumps({**data, "sha256": fingerprint(data)}, indent=2, ensure_ascii=False) + "\n"
