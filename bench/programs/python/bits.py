import struct

NUMBER = 0


def crc8(data, polynomial=0x07):
    crc = 0
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1 ^ polynomial if crc & 0x80 else crc << 1) & 0xFF
    return crc


def pack(version, kind, flags, payload):
    head = struct.pack(">BBHI", version, kind, flags, len(payload))
    return head + payload + bytes([crc8(head + payload)])


def unpack(data):
    version, kind, flags, length = struct.unpack_from(">BBHI", data)
    payload = data[8 : 8 + length]
    if crc8(data[: 8 + length]) != data[8 + length]:
        raise ValueError("checksum")
    return version, kind, flags, payload


message = pack(1, 7, NUMBER & 0xFFFF, f"hello {NUMBER}".encode())
print(message.hex(" "))
print(unpack(message))
broken = bytearray(message)
broken[9] ^= 0x10
try:
    unpack(bytes(broken))
except ValueError as error:
    print("error:", error)
n = NUMBER | 1
print(bin(n), n.bit_length(), bin(n).count("1"), n & -n, int.from_bytes(n.to_bytes(8, "big"), "little"))
