"""What every test shares."""

from hyperpod_cdk.toolchain import use_packaged_node

use_packaged_node()
