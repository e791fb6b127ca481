"""The systems that GYRO is compared with."""
