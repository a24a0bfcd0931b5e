// SPDX-License-Identifier: Apache-2.0

package simulation

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// The labels of the hooks of pods. A preDelete and an inPlaceUpdate hook hold a pod while it has the first two labels
// with the value true. preNormal is met when it has the third. In rare histories the hooks are about finalizers with
// these names.
const (
	HoldDelete = "hold-delete"
	holdUpdate = "hold-update"
	warm       = "warm"
)

func finalizerOf(hold string) string { return "example.com/" + hold }

var finalizers = []string{finalizerOf(HoldDelete), finalizerOf(holdUpdate), finalizerOf(warm)}

// Hooks are edits that set and remove hooks.
var Hooks = []Edit{
	Pick(`{"spec":{"lifecycle":{"preDelete":%v}}}`, `{"labelsHandler":{"hold-delete":"true"}}`, `{"labelsHandler":{"hold-delete":"true"},"markPodNotReady":true}`, "null"),
	Pick(`{"spec":{"lifecycle":{"inPlaceUpdate":%v}}}`, `{"labelsHandler":{"hold-update":"true"}}`, `{"labelsHandler":{"hold-update":"true"},"markPodNotReady":true}`, "null"),
	Pick(`{"spec":{"lifecycle":{"preNormal":%v}}}`, `{"labelsHandler":{"warm":"true"}}`, "null"),
}

// RareHooks are edits that have hooks be about finalizers, alone or beside labels, the preDelete hook first.
var RareHooks = []Edit{
	Pick(`{"spec":{"lifecycle":{"preDelete":%v}}}`, `{"labelsHandler":null,"finalizersHandler":["example.com/hold-delete"]}`, `{"finalizersHandler":["example.com/hold-delete"]}`,
		`{"finalizersHandler":["example.com/hold-delete"],"markPodNotReady":true}`, `{"finalizersHandler":null,"labelsHandler":{"hold-delete":"true"}}`),
	Pick(`{"spec":{"lifecycle":{"inPlaceUpdate":%v}}}`, `{"labelsHandler":null,"finalizersHandler":["example.com/hold-update"]}`,
		`{"finalizersHandler":["example.com/hold-update"],"markPodNotReady":true}`, `{"finalizersHandler":null,"labelsHandler":{"hold-update":"true"}}`),
	Pick(`{"spec":{"lifecycle":{"preNormal":%v}}}`, `{"labelsHandler":null,"finalizersHandler":["example.com/warm"]}`,
		`{"labelsHandler":{"warm":"true"},"markPodNotReady":true}`, `{"finalizersHandler":null,"markPodNotReady":null,"labelsHandler":{"warm":"true"}}`),
}

// rarely is one in how many moves of users something rare comes beside.
const rarely = 6

// Rarely is for Subject.Rare: users make one of the edits, or the owner of a hook that is about finalizers holds a pod.
func Rarely(edits ...Edit) func(*User, *rand.Rand) {
	return func(u *User, r *rand.Rand) {
		pod := u.AnyPod(r)
		if pod == nil || pod.DeletionTimestamp != nil || len(u.usedFinalizers()) == 0 || r.IntN(2) == 0 {
			u.Edit(AnyEdit(r, edits))
			return
		}
		u.hold(pod, finalizers[r.IntN(2)])
	}
}

func (u *User) usedFinalizers() (used []string) {
	if workload := u.Workload(); workload != nil {
		spec := string(raw(workload))
		for _, f := range finalizers {
			if strings.Contains(spec, f) {
				used = append(used, f)
			}
		}
	}
	return used
}

func (u *User) hold(pod *corev1.Pod, finalizer string) {
	if !slices.Contains(pod.Finalizers, finalizer) {
		u.PatchPod(pod.Name, fmt.Sprintf(`{"metadata":{"finalizers":[%q]}}`, finalizer))
	}
}

func (u *User) letGo(pod *corev1.Pod, finalizer string) {
	if slices.Contains(pod.Finalizers, finalizer) {
		u.PatchPod(pod.Name, fmt.Sprintf(`{"metadata":{"$deleteFromPrimitiveList/finalizers":[%q]}}`, finalizer))
	}
}

// AnswerHook lets a pod go that waits for a hook, as the hook's owner does, and one that is deleted whatever its state.
func (u *User) AnswerHook(pod *corev1.Pod) {
	set := func(key, value, patch string) {
		if pod.Labels[key] != value {
			u.PatchPod(pod.Name, `{"metadata":{"labels":{"`+key+`":`+patch+`}}}`)
		}
	}
	if pod.DeletionTimestamp != nil {
		for _, f := range finalizers {
			u.letGo(pod, f)
		}
	}
	take := func(hold string) {
		if pod.DeletionTimestamp == nil && slices.Contains(u.usedFinalizers(), finalizerOf(hold)) {
			u.hold(pod, finalizerOf(hold))
		}
	}
	switch lifecyclev1alpha1.StateType(pod.Labels[lifecyclev1alpha1.StateLabel]) {
	case lifecyclev1alpha1.StatePreparingNormal:
		set(warm, "true", `"true"`)
		take(warm)
	case lifecyclev1alpha1.StatePreparingUpdate:
		set(holdUpdate, "", "null")
		u.letGo(pod, finalizerOf(holdUpdate))
	case lifecyclev1alpha1.StateUpdated:
		set(holdUpdate, "true", `"true"`)
		take(holdUpdate)
	case lifecyclev1alpha1.StatePreparingDelete:
		set(HoldDelete, "", "null")
		u.letGo(pod, finalizerOf(HoldDelete))
	}
}

// AnswerHooks lets all pods go that wait for hooks.
func (u *User) AnswerHooks() {
	for _, pod := range u.Pods() {
		u.AnswerHook(pod)
	}
}
