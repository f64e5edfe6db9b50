import base64
import binascii
import hashlib
import hmac
import secrets
import uuid

data = b"The quick brown fox" * 1000
for name in sorted(hashlib.algorithms_guaranteed):
    digest = hashlib.new(name, data)
    print(name, digest.hexdigest(16) if name.startswith("shake") else digest.hexdigest())
print(hmac.new(b"key", data, "sha256").hexdigest(), hmac.compare_digest("a", "a"))
print(hashlib.pbkdf2_hmac("sha256", b"password", b"salt", 1000).hex(), hashlib.blake2b(data, digest_size=8, key=b"k").hexdigest())
print(hashlib.scrypt(b"pw", salt=b"s", n=16, r=8, p=1, dklen=16).hex())
for encode in base64.b64encode, base64.b32encode, base64.b85encode, base64.urlsafe_b64encode, binascii.hexlify:
    print(encode(b"\xfb\xff text"))
print(uuid.uuid5(uuid.NAMESPACE_DNS, "example.org"), uuid.UUID(int=5), uuid.uuid4() != uuid.uuid4(), uuid.uuid4().version)
print(len(secrets.token_hex(8)), len(secrets.token_urlsafe()), secrets.randbelow(1))
