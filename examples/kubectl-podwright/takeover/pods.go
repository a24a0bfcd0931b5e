// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"encoding/json"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	inplacev1alpha1 "github.com/podwright/podwright/inplace/v1alpha1"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// probesAnnotation keeps the liveness probes that OpenKruise from 1.7 on has taken out of a pod.
const probesAnnotation = "apps.kruise.io/container-probe-context"

// updateReady is the condition that says whether an update in place is complete.
const updateReady = "InPlaceUpdateReady"

// state is in what a pod is, and what there is to say about all pods of a workload that are in it.
type state struct {
	is             func(*check, *unstructured.Unstructured) bool
	severity       Severity
	rule, says, do string
}

// states are those of pods that a take-over is about.
var states = []state{
	{beingUpdated, WillHappen, "IP-24", "An update in place is under way. podwright brings it to its end: ", ""},
	{beingResized, WillHappen, "IP-43", "A resize is under way. podwright brings it to its end: ", ""},
	{waitsForBatch, StuckToday, "IP-43", "OpenKruise never begins a later batch that has nothing but resources, so they stay Updating: ", "Nothing: podwright gives them what they wait for."},
	{inState(lifecyclev1alpha1.StatePreparingDelete), WillHappen, "LC-1", "A preDelete hook holds them, and goes on to: ", ""},
	{inState(lifecyclev1alpha1.StatePreparingUpdate), WillHappen, "LC-1", "An inPlaceUpdate hook holds them, and goes on to: ", ""},
	{withoutProbes, NeedsAnswer, "KC-29", "OpenKruise's agent probes their liveness, and podwright's does not: ", "Recreate them after the move: their probes come back."},
	{unseenOwner, StuckToday, "DS-CR3", "OpenKruise 1.9 does not notice what becomes of pods of an earlier release: ", "Nothing: podwright finds pods by the UID of their owner."},
}

// pods says what becomes of pods that are in some state, by workload.
func (c *check) pods(states []state) {
	for _, s := range states {
		of := map[string][]string{}
		for _, pod := range c.Pods {
			if s.is(c, pod) {
				of[ownerOf(pod)] = append(of[ownerOf(pod)], pod.GetName())
			}
		}
		for _, owner := range slices.Sorted(maps.Keys(of)) {
			slices.Sort(of[owner])
			c.findings = append(c.findings, Finding{Object: owner, Severity: s.severity, Says: s.says + few(of[owner]) + ".", Do: s.do, Rule: s.rule})
		}
	}
}

// ownerOf is how findings call the workload of a pod, or the pod if it has none.
func ownerOf(pod *unstructured.Unstructured) string {
	if owner := metav1.GetControllerOf(pod); owner != nil {
		return owner.Kind + " " + pod.GetNamespace() + "/" + owner.Name
	}
	return title(pod)
}

// record is what OpenKruise has noted of the last update in place of a pod; nil if nothing.
func record(pod *unstructured.Unstructured) *inplacev1alpha1.State {
	noted := &inplacev1alpha1.State{}
	if json.Unmarshal([]byte(pod.GetAnnotations()[inplacev1alpha1.StateAnnotation]), noted) != nil {
		return nil
	}
	return noted
}

func stateOf(pod *unstructured.Unstructured) lifecyclev1alpha1.StateType {
	return lifecyclev1alpha1.StateType(pod.GetLabels()[lifecyclev1alpha1.StateLabel])
}

func inState(wanted lifecyclev1alpha1.StateType) func(*check, *unstructured.Unstructured) bool {
	return func(_ *check, pod *unstructured.Unstructured) bool { return stateOf(pod) == wanted }
}

func beingUpdated(_ *check, pod *unstructured.Unstructured) bool {
	noted := record(pod)
	return noted != nil && !noted.UpdateResources && (condition(pod, updateReady) == "False" || stateOf(pod) == lifecyclev1alpha1.StateUpdating)
}

func beingResized(_ *check, pod *unstructured.Unstructured) bool {
	noted := record(pod)
	return noted != nil && noted.UpdateResources && len(noted.NextContainerResources) == 0 &&
		(condition(pod, updateReady) == "False" || stateOf(pod) == lifecyclev1alpha1.StateUpdating)
}

// waitsForBatch tells whether a later batch of a pod's update has nothing but resources.
func waitsForBatch(_ *check, pod *unstructured.Unstructured) bool {
	noted := record(pod)
	return noted != nil && len(noted.NextContainerResources) > 0 && len(noted.NextContainerImages) == 0
}

func withoutProbes(_ *check, pod *unstructured.Unstructured) bool {
	return pod.GetAnnotations()[probesAnnotation] != ""
}

// unseenOwner tells whether 1.9 does not find the workload of a pod, since an earlier release has made it.
func unseenOwner(c *check, pod *unstructured.Unstructured) bool {
	owner := metav1.GetControllerOf(pod)
	return c.release == "1.9" && owner != nil && owner.Kind == perNode && owner.APIVersion == apps+"/v1alpha1"
}
