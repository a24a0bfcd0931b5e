// SPDX-License-Identifier: Apache-2.0

package injection_test

import (
	"strings"
	"testing"

	"github.com/podwright/podwright/sidecar/injection/policy"
)

// No policy of the API server draws lots: a webhook injects then. (SCS-31)
func TestPartialNeedsTheWebhook(t *testing.T) {
	set := setOf(t, "demo", "{containers: [{name: log, image: 'log:2'}], injectionStrategy: {revision: {revisionName: demo-1, policy: Partial}}}")
	if _, err := policy.Compile(policy.Input{SidecarSet: set, Created: noon}); err == nil || !strings.Contains(err.Error(), "policy is Partial") {
		t.Errorf("error %v", err)
	}
}
