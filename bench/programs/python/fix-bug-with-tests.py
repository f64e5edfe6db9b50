import io
import unittest

NUMBER = 0


def chunks(values, size):
    if size < 1:
        raise ValueError("size must be at least 1")
    return [values[i : i + size] for i in range(0, len(values), size)]


def merge(intervals):
    merged = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return merged


class Tests(unittest.TestCase):
    def test_chunks(self):
        self.assertEqual(chunks([1, 2, 3, 4, 5], 2), [[1, 2], [3, 4], [5]])
        self.assertEqual(chunks([], 3), [])
        self.assertRaises(ValueError, chunks, [1], 0)

    def test_merge(self):
        self.assertEqual(merge([(1, 3), (2, 6), (8, 10)]), [(1, 6), (8, 10)])
        self.assertEqual(merge([(1, 4 + NUMBER), (4, 5 + NUMBER)]), [(1, 5 + NUMBER)])

    def test_merge_touching(self):
        for gap, expected in ((0, 1), (1, 2)):
            with self.subTest(gap=gap):
                self.assertEqual(len(merge([(0, 1), (1 + gap, 2 + gap)])), expected)


suite = unittest.defaultTestLoader.loadTestsFromTestCase(Tests)
result = unittest.TextTestRunner(stream=io.StringIO()).run(suite)
print(result.testsRun, "tests", len(result.failures), "failures", len(result.errors), "errors")
