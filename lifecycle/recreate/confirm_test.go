// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/lifecycle/recreate"
)

// What cannot be taken back is drawn from the API server's own answer, and
// everything else from the cache: that costs no request.
func TestConfirm(t *testing.T) {
	for _, test := range []struct {
		name    string
		request requestEdits
		pod     *corev1.Pod
		want    bool
	}{
		{"the pod is there", nil, runningPod(), false},
		{"the pod is being deleted, and so it stays", nil, runningPod(leaving), false},
		{"no pod", nil, nil, true},
		{"no pod, before the agent has answered", requestEdits{phase("")}, nil, true},
		{"another pod of the name", nil, runningPod(another), true},

		{"completed, nothing to release", requestEdits{completed(0)}, nil, false},
		{"deleting, nothing to release", requestEdits{deleting}, nil, false},
		{"to release: the key is there", requestEdits{completed(0), held()}, runningPod(keys(own)), false},
		{"to release: the key is not there", requestEdits{completed(0), held()}, runningPod(keys(foreign)), true},
		{"to release: no condition", requestEdits{deleting, held()}, runningPod(func(pod *corev1.Pod) { pod.Status.Conditions = nil }), true},
		{"to release: no pod", requestEdits{deleting, held()}, nil, true},
		{"to release: the pod is being deleted, and so it stays", requestEdits{deleting, held()}, runningPod(leaving), false},
		{"to release: the pod has no gate, and so it stays", requestEdits{deleting, held()}, runningPod(ungated), false},
		{"to release: another pod without the gate", requestEdits{deleting, held()}, runningPod(ungated, another), true},
		{"to release: another pod is being deleted", requestEdits{deleting, held()}, runningPod(leaving, another), true},
	} {
		s := &recreate.Snapshot{Request: request(test.request...), Pod: test.pod, Now: now}
		if got := recreate.NewPlan(s).Confirm; got != test.want {
			t.Errorf("%s: to be confirmed: %v, want %v", test.name, got, test.want)
		}
		s.Confirmed = true
		if recreate.NewPlan(s).Confirm {
			t.Errorf("%s: to be confirmed once more", test.name)
		}
	}
}
