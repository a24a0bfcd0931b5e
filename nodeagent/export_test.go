// SPDX-License-Identifier: Apache-2.0

package nodeagent

import "time"

func init() { probeTimeout, probeAgain, doubt = 2*time.Second, 50*time.Millisecond, 3*time.Second }
