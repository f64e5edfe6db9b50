import hashlib
import hmac
import base64

NUMBER = 0

documents = {f"file-{i}.txt": (f"line {i + NUMBER}\n" * (i + 1)).encode() for i in range(8)}
digests = {}
for name, data in documents.items():
    digests[name] = hashlib.sha256(data).hexdigest()
    print(name, digests[name][:16], hashlib.md5(data).hexdigest()[:8])

tree = sorted(digests.values())
while len(tree) > 1:
    tree = [hashlib.sha256((a + b).encode()).hexdigest() for a, b in zip(tree[::2], tree[1::2])]
print("root", tree[0])

key = str(NUMBER).encode()
tag = hmac.new(key, documents["file-3.txt"], "sha256").digest()
print(base64.b64encode(tag).decode())
print(hmac.compare_digest(tag, hmac.new(key, documents["file-3.txt"], "sha256").digest()))
