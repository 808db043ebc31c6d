"""Sign a certificate: Ed25519 (RFC 8032), by the package cryptography."""

from __future__ import annotations

from pathlib import Path

from kanon_sql.errors import SpecError, UnsupportedError
from kanon_sql.version import how_to_install

__all__ = ["Signer"]


class Signer:
    """A private key.

    Args:
        path: a PEM file of it, without a password, as ``openssl genpkey -algorithm ed25519`` writes it.

    Raises:
        UnsupportedError: the package cryptography is not installed.
        SpecError: the file holds no such key.
    """

    def __init__(self, path: Path) -> None:
        try:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
            from cryptography.hazmat.primitives.serialization import load_pem_private_key
        except ImportError:
            raise UnsupportedError(
                f"signing a certificate needs cryptography, which is not installed; {how_to_install('certify')}"
            ) from None
        expected = (
            "expected an Ed25519 private key in PEM format without a password, as made by: openssl genpkey "
            "-algorithm ed25519"
        )
        try:
            key = load_pem_private_key(path.read_bytes(), None)
        except OSError as error:
            raise SpecError(f"--sign {path}: {error.strerror or type(error).__name__}; {expected}") from None
        except (ValueError, TypeError):
            raise SpecError(f"--sign {path}: the file holds no such key; {expected}") from None
        if not isinstance(key, Ed25519PrivateKey):
            raise SpecError(f"--sign {path}: the file holds another kind of key; {expected}")
        self._key = key

    def sign(self, content: bytes) -> bytes:
        """The signature, 64 bytes."""
        return self._key.sign(content)
