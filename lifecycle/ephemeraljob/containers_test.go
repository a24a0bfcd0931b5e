// SPDX-License-Identifier: Apache-2.0

package ephemeraljob

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// EJ-23: there is room for so many.
func TestRoomForResults(t *testing.T) {
	var words []string
	for i := range v1alpha1.MaxEphemeralJobPodResults + 5 {
		words = append(words, fmt.Sprintf("p%04d:exit%d", i, i%2))
	}
	s := place(t, newJob(), strings.Join(words, " "))
	for _, pod := range s.Pods {
		pod.Status.EphemeralContainerStatuses[0].State.Terminated.Message = strings.Repeat("ä", 600)
	}
	status := NewPlan(s).Status
	if len(status.PodResults) != v1alpha1.MaxEphemeralJobPodResults || status.OmittedPodResults != 5 || *status.PodResults[0].ExitCode != 1 {
		t.Errorf("%d results, %d omitted", len(status.PodResults), status.OmittedPodResults)
	}
	total := 0
	for _, r := range status.PodResults {
		if strings.Trim(r.Message, "ä") != "" || len(r.Message) > v1alpha1.MaxEphemeralJobMessage {
			t.Fatalf("message %q", r.Message)
		}
		total += len(r.Message)
	}
	if total > v1alpha1.MaxEphemeralJobMessages || total < v1alpha1.MaxEphemeralJobMessages-v1alpha1.MaxEphemeralJobMessage {
		t.Errorf("the messages have %d bytes", total)
	}
	if data, err := json.Marshal(status); err != nil || len(data) > 500*1024 {
		t.Errorf("error %v, the status has %d bytes", err, len(data))
	}
	if got := lastOf("a" + strings.Repeat("b", 1024)); got != strings.Repeat("b", 1024) {
		t.Errorf("of a long message %q is kept", got)
	}
}
