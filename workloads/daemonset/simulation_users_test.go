// SPDX-License-Identifier: Apache-2.0

package daemonset

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/internal/testing/simulation"
	"github.com/podwright/podwright/workloads/v1alpha1"
)

// typeEdit says how pods are updated.
var typeEdit = simulation.Pick(`{"spec":{"updateStrategy":{"rollingUpdate":%v}}}`,
	`{"rollingUpdateType":"Standard","maxUnavailable":1,"maxSurge":null}`, `{"rollingUpdateType":"Standard","maxUnavailable":2,"maxSurge":0}`,
	`{"rollingUpdateType":"InPlaceIfPossible","maxUnavailable":1,"maxSurge":null}`, `{"rollingUpdateType":"InPlaceIfPossible","maxUnavailable":2,"maxSurge":null}`,
	`{"rollingUpdateType":"Standard","maxUnavailable":0,"maxSurge":1}`, `{"rollingUpdateType":"Standard","maxUnavailable":null,"maxSurge":"50%"}`,
	`{"rollingUpdateType":"Surging","maxUnavailable":null,"maxSurge":null}`)

// edits are what users change about a DaemonSet.
var edits = slices.Concat(simulation.ReadEdits("edits"), []simulation.Edit{typeEdit}, simulation.ReadEdits("moreEdits"), simulation.Hooks[:1])

// mistakes are what only a webhook would refuse.
var mistakes = simulation.ReadMistakes("mistakes")

// act is what users, and the owners of hooks, do in a step.
func act(u *simulation.User, r *rand.Rand) {
	pod := u.AnyPod(r)
	switch n := r.IntN(28); {
	case n == 0:
		u.Err(r, mistakes)
	case n < 15 || pod == nil:
		u.Edit(simulation.AnyEdit(r, edits))
	case n < 19:
		u.AnswerHook(pod)
	default:
		actOnPod(u, r, pod)
	}
}

// actOnPod is what users do to single pods.
func actOnPod(u *simulation.User, r *rand.Rand, pod *corev1.Pod) {
	switch r.IntN(8) {
	case 0:
		u.CreateStranger(fmt.Sprint("stranger-", r.IntN(3)))
	case 1:
		u.Disown(pod)
	case 2:
		u.TakeName(pod)
	case 3:
		u.DeletePod(pod.Name, nil)
	case 4, 5:
		u.Quarantine(pod)
	case 6:
		u.Corrupt(pod)
	case 7:
		u.CreateRevision(fmt.Sprint("web-unreadable-", r.IntN(2)))
	}
}

// push is all that users do in the end. They push a template whose pods run. They take back what only a webhook would have
// refused, and what asks for a standstill. All else is for the controller to overcome.
func push(u *simulation.User) {
	set := u.Workload().(*v1alpha1.DaemonSet)
	u.TakeBack(set, mistakes...)
	containers := set.Spec.Template.Spec.Containers
	containers[0].Image = "nginx:9"
	data, err := json.Marshal(containers)
	if err != nil {
		panic(err)
	}
	u.Edit(`{"spec":{"template":{"spec":{"containers":` + string(data) + `}},"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"paused":false}}}}`)
}
