"""What every test shares."""

import signal

from hyperpod_cdk.toolchain import use_packaged_node

use_packaged_node()
# kill ends the tests as Ctrl-C does: what they have started and written is taken down
signal.signal(signal.SIGTERM, signal.default_int_handler)
