// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/examples/tests/testbed"
	"github.com/podwright/podwright/examples/tests/testbed/mirror"
	"github.com/podwright/podwright/examples/tests/testbed/podstate"
)

// play is one guarantee on one side: a namespace with the StatefulSet web.
type play struct {
	*testbed.Scene
	side    *side
	spec    []string // what the guarantee changes in the manifest
	sets    *mirror.Mirror[*unstructured.Unstructured]
	history *playHistory

	generation int64 // of the last change of the set
	claims     map[string][]types.UID
	outcomes   []outcome
}

func newPlay(t *testing.T, side *side, g *guarantee) *play {
	t.Helper()
	history := &playHistory{}
	p := &play{Scene: steady.NewScene(t, history.Observe), side: side, spec: g.spec, history: history, claims: map[string][]types.UID{}}
	sets := side.sets(p.Namespace)
	p.sets = testbed.Follow[*unstructured.Unstructured](p.Scene, mirror.Of(sets), nil)
	t.Cleanup(p.tell)
	return p
}

// tell says what it was like if a test failed.
func (p *play) tell() {
	if !p.Failed() {
		return
	}
	for _, set := range p.sets.All() {
		status, _ := json.Marshal(set.Object["status"])
		p.Logf("generation %d of the StatefulSet, status %s", set.GetGeneration(), status)
	}
	p.Logf("the pods now: %q\nwhat happened since the last check: %q", p.pods(), p.history.unchecked())
	// The context of the test is done.
	events, err := steady.Core.CoreV1().Events(p.Namespace).List(context.Background(), metav1.ListOptions{})
	if err != nil {
		p.Logf("list the events: %v", err)
		return
	}
	for _, event := range events.Items {
		p.Logf("%d events about %s %s: %s: %s", max(1, event.Count), event.InvolvedObject.Kind, event.InvolvedObject.Name, event.Reason, event.Message)
	}
}

// create creates the set.
func (p *play) create() {
	p.Helper()
	var changes []string
	for _, spec := range p.spec {
		changes = append(changes, `spec: `+spec)
	}
	set, err := p.side.render(changes...)
	if err != nil {
		p.Fatalf("the manifest: %v", err)
	}
	stored, err := p.side.sets(p.Namespace).Create(p.Context(), set, metav1.CreateOptions{FieldValidation: metav1.FieldValidationStrict})
	if err != nil {
		p.Fatalf("create the StatefulSet: %v", err)
	}
	p.generation = stored.GetGeneration()
}

// begin creates the set and waits until it has settled with so many pods.
func (p *play) begin(pods int) {
	p.Helper()
	p.create()
	var wanted []string
	for i := range pods {
		wanted = append(wanted, fmt.Sprintf("web-%d web:1", i))
	}
	p.settled(wanted...)
}

// change changes the spec of the set by a merge patch, written in YAML.
func (p *play) change(spec string) {
	p.Helper()
	patch, err := p.side.patch(`spec: ` + spec)
	if err != nil {
		p.Fatalf("the change %s: %v", spec, err)
	}
	p.write(types.MergePatchType, patch)
}

// setImage changes the image of the template.
func (p *play) setImage(image string) {
	p.Helper()
	p.write(types.JSONPatchType, fmt.Appendf(nil, `[{"op":"replace","path":"/spec/template/spec/containers/0/image","value":%q}]`, image))
}

// write changes the set when its controller has seen what became of the pods. The caches of a controller are not equally far.
// On either side, a controller may see a change of the set before an earlier one of a pod. Then it acts on the earlier state
// of the pod.
func (p *play) write(patchType types.PatchType, patch []byte) {
	p.Helper()
	p.Await("the controller has seen the pods", p.uncounted)
	stored, err := p.side.sets(p.Namespace).Patch(p.Context(), "web", patchType, patch, metav1.PatchOptions{})
	if err != nil {
		p.Fatalf("change the StatefulSet with %s: %v", patch, err)
	}
	p.generation = stored.GetGeneration()
}

func (p *play) scale(replicas int) {
	p.Helper()
	p.change(fmt.Sprintf(`{replicas: %d}`, replicas))
}

// deleteSet deletes the set and waits until it is gone.
func (p *play) deleteSet(how metav1.DeletionPropagation) {
	p.Helper()
	if err := p.side.sets(p.Namespace).Delete(p.Context(), "web", metav1.DeleteOptions{PropagationPolicy: &how}); err != nil {
		p.Fatalf("delete the StatefulSet: %v", err)
	}
	p.Await("no StatefulSet", func() string {
		if set, found := p.sets.Named("web"); found {
			return fmt.Sprintf("it has the finalizers %v", set.GetFinalizers())
		}
		return ""
	})
}

// set returns the set as it was last seen, and its status.
func (p *play) set() (*unstructured.Unstructured, *appsv1.StatefulSetStatus, bool) {
	set, found := p.sets.Named("web")
	if !found {
		return nil, nil, false
	}
	// The status of both sides has the same fields, and more on ours.
	status, _, _ := unstructured.NestedMap(set.Object, "status")
	typed := &appsv1.StatefulSetStatus{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(status, typed); err != nil {
		p.Errorf("the status %v: %v", status, err)
	}
	return set, typed, true
}

// settled waits until the pods of the namespace are these and no others, as awaitPods does. It keeps all that there is for
// the comparison of the sides.
func (p *play) settled(wanted ...string) {
	p.Helper()
	p.awaitPods(wanted...)
	p.outcomes = append(p.outcomes, p.outcome(strings.Join(wanted, ", ")))
}

// awaitPods waits until the pods of the namespace are these and no others, and the controller has seen so. Then the status
// is the one of the last change, and counts these pods. A pod is given as describe does: "web-0 web:1" is one that is Ready.
//
// A controller writes the status when it has done what is to be done, so after this nothing happens by itself.
func (p *play) awaitPods(wanted ...string) {
	p.Helper()
	slices.Sort(wanted)
	for {
		p.Await(fmt.Sprintf("the pods %q", wanted), func() string {
			if pods := p.pods(); !slices.Equal(pods, wanted) {
				return fmt.Sprintf("%q", pods)
			}
			return p.uncounted()
		})
		// What the controller did before it wrote the status may not have come here yet.
		live, err := steady.Core.CoreV1().Pods(p.Namespace).List(p.Context(), metav1.ListOptions{})
		if err != nil {
			p.Fatalf("list the pods: %v", err)
		}
		var pods []string
		for i := range live.Items {
			pods = append(pods, describe(&live.Items[i]))
		}
		slices.Sort(pods)
		if slices.Equal(pods, wanted) {
			return
		}
		for i := range live.Items {
			p.Seen(live.Items[i].ResourceVersion)
		}
	}
}

// pods describes the pods of the namespace, sorted.
func (p *play) pods() []string {
	var pods []string
	for _, pod := range p.Pods.All() {
		pods = append(pods, describe(pod))
	}
	slices.Sort(pods)
	return pods
}

// describe is a pod in a few words: its name and image, and whatever is unusual.
func describe(pod *corev1.Pod) string {
	words := []string{pod.Name, imageOf(pod)}
	switch phase := pod.Status.Phase; {
	case phase == corev1.PodFailed || phase == corev1.PodSucceeded:
		words = append(words, strings.ToLower(string(phase)))
	case !ready(pod):
		words = append(words, "unready")
	}
	if pod.DeletionTimestamp != nil {
		words = append(words, "terminating")
	}
	if metav1.GetControllerOf(pod) == nil {
		words = append(words, "orphan")
	}
	return strings.Join(words, " ")
}

func ready(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodRunning && podstate.Condition(pod, corev1.PodReady).Status == corev1.ConditionTrue
}

// uncounted says how the status differs from the pods; nothing if it tells what is.
func (p *play) uncounted() string {
	set, status, found := p.set()
	if !found {
		return ""
	}
	type counts struct{ Replicas, Ready, Available, Current, Updated int32 }
	var wanted counts
	for _, pod := range p.Pods.All() {
		if owner := metav1.GetControllerOf(pod); owner == nil || owner.UID != set.GetUID() {
			continue
		}
		wanted.Replicas++
		if ready(pod) {
			wanted.Ready++
			wanted.Available++
		}
		if revision := pod.Labels[appsv1.ControllerRevisionHashLabelKey]; pod.DeletionTimestamp == nil {
			wanted.Current += count(revision == status.CurrentRevision)
			wanted.Updated += count(revision == status.UpdateRevision)
		}
	}
	got := counts{status.Replicas, status.ReadyReplicas, status.AvailableReplicas, status.CurrentReplicas, status.UpdatedReplicas}
	switch {
	case status.ObservedGeneration != p.generation:
		return fmt.Sprintf("status.observedGeneration %d of %d", status.ObservedGeneration, p.generation)
	case got != wanted:
		return fmt.Sprintf("the status counts %+v of %+v", got, wanted)
	case p.numberOf(status.UpdateRevision) == 0:
		return fmt.Sprintf("no revision %s", status.UpdateRevision)
	}
	return ""
}

func count(yes bool) int32 {
	if yes {
		return 1
	}
	return 0
}
