# A machine may stand still for seconds.
ExUnit.start(capture_log: true, assert_receive_timeout: 60_000)
