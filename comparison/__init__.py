"""The systems that GYRO is compared with, a room each."""
