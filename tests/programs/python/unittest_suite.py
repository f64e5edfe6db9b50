import sys
import unittest
from unittest import mock


class Sums(unittest.TestCase):
    def setUp(self):
        self.numbers = [1, 2, 3]

    def test_sum(self):
        self.assertEqual(sum(self.numbers), 6)

    def test_raises(self):
        with self.assertRaisesRegex(ValueError, "invalid literal"):
            int("x")

    @unittest.skip("not today")
    def test_skipped(self):
        self.fail()

    def test_mock(self):
        with mock.patch("os.getcwd", return_value="/mocked") as getcwd:
            import os
            self.assertEqual(os.getcwd(), "/mocked")
            getcwd.assert_called_once()

    def test_wrong(self):
        for n in range(2):
            with self.subTest(n=n):
                self.assertEqual(n, 0)


stream = type("Quiet", (), {"write": lambda self, text: None, "flush": lambda self: None})()
result = unittest.TextTestRunner(stream=stream).run(unittest.defaultTestLoader.loadTestsFromTestCase(Sums))
print(result.testsRun, len(result.failures), len(result.skipped), result.wasSuccessful())
print(result.failures[0][1])
sys.exit(not result.wasSuccessful())
