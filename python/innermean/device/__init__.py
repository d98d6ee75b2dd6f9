"""Problems whose rows lie on a device: torch makes the passes, the library draws the conclusions.

``problems.linear(..., device="cuda")``, ``problems.groups(..., device="cuda")`` and
``innermean.torch(..., device="cuda")`` are made of this. Everything is in double precision, as
proofs need it. Sums over rows and groups, and what phi makes of them, stay on the device; the loss,
its gradient and, for Newton's method, its second derivatives travel, d squared numbers at most.
"""
