// SPDX-License-Identifier: Apache-2.0

package cloneset

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/internal/testing/fakecluster"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
	"github.com/podwright/podwright/lifecycle/readiness"
	"github.com/podwright/podwright/workloads"
)

// TestStories plays the stories in testdata: see fixture.PlayStories. Options are features by name, off=NAME, and budget. A budget is a number of
// updates, or lost: it cannot tell. The budget "unready" protects pods that are ready. "exhausted" refuses the pods that a label marks.
// "asked" shows how many updates the budget was asked about. "free" and "full" change whether the exhausted one allows all.
// "nodes" says what nodes answer to resizes: the reason, of all pods or of one; without a reason they do them. "stores" has a policy store
// another cpu or image than the one asked for, or than any. It does so in every write of a pod that is there. Alone, the command ends that.
func TestStories(t *testing.T) {
	fixture.PlayStories(t, "testdata/stories", cloneSets, func(f *fixture.Cluster) *fixture.Story {
		c := &cluster{Cluster: f}
		c.setUp()
		return &fixture.Story{
			New: func(replicas int32) any { return testSet(replicas) }, Restart: c.restart, Waiting: c.waits, Option: c.option,
			Start: func() (*fixture.Reconciles, func()) { return c.start() },
			Further: map[string]func(...string) string{
				"asked":  func(...string) string { return c.asked() },
				"free":   func(...string) string { c.options.Budget.(*exhausted).free = true; return "" },
				"full":   func(...string) string { c.options.Budget.(*exhausted).free = false; return "" },
				"nodes":  func(words ...string) string { c.Kubelet.Resize = nodesSay(words...); return "" },
				"stores": c.stores,
			},
		}
	})
}

func (c *cluster) option(name, value string) {
	switch name {
	case "budget":
		c.options.Budget = budgetOf(value)
	case "off":
		reflect.ValueOf(&c.options.Features).Elem().FieldByName(value).SetBool(false)
	default:
		reflect.ValueOf(&c.options.Features).Elem().FieldByName(name).SetBool(true)
	}
}

func budgetOf(value string) workloads.Budget {
	switch value {
	case "exhausted":
		return &exhausted{asked: map[string]int{}}
	case "unready":
		return unready{}
	case "lost":
		return &budget{left: 1000, err: fixture.ErrLost}
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		panic(err)
	}
	return &budget{left: n}
}

// asked shows how often the budget was asked since this was asked.
func (c *cluster) asked() string {
	switch b := c.options.Budget.(type) {
	case *budget:
		defer func() { b.asked = nil }()
		return fmt.Sprintf("%d, two at a time: %t\n", len(b.asked), b.overlap.Load())
	case *exhausted:
		defer clear(b.asked)
		return fmt.Sprintln(b.asked)
	}
	return ""
}

// nodesSay has nodes give a reason for not doing resizes, of all pods or of one.
func nodesSay(words ...string) func(*corev1.Pod) string {
	return func(pod *corev1.Pod) string {
		if len(words) == 0 || len(words) > 1 && pod.Name != words[1] {
			return ""
		}
		return words[0]
	}
}

// budget allows n updates.
type budget struct {
	left  int
	err   error
	asked []string

	inside  atomic.Int32
	overlap atomic.Bool
}

func (b *budget) AllowUpdate(_ context.Context, pod *corev1.Pod) (bool, error) {
	b.overlap.Store(b.overlap.Load() || b.inside.Add(1) > 1)
	defer b.inside.Add(-1)
	for range 100 { // time for another question
		runtime.Gosched()
	}
	b.asked = append(b.asked, pod.Name)
	b.left--
	return b.left >= 0, b.err
}

// unready allows what no budget protects: updates of pods that are not ready.
type unready struct{}

func (unready) AllowUpdate(_ context.Context, pod *corev1.Pod) (bool, error) {
	return !readiness.Ready(pod), nil
}

// exhausted refuses the pods that a label marks, as a budget does that allows nothing, and counts how often it is asked.
type exhausted struct {
	free  bool
	asked map[string]int
}

func (b *exhausted) AllowUpdate(_ context.Context, pod *corev1.Pod) (bool, error) {
	b.asked[pod.Labels["budget"]]++
	return b.free || pod.Labels["budget"] != "exhausted", nil
}

// stores has a policy change what of containers: what, the value asked for or *, and the one that is stored.
func (c *cluster) stores(words ...string) string {
	if len(words) == 0 {
		c.Mutate(nil)
		return ""
	}
	fields := map[string][]string{"cpu": {"resources", "requests", "cpu"}, "image": {"image"}}[words[0]]
	c.Mutate(func(r fakecluster.Request, object *unstructured.Unstructured) {
		if r.Resource != "pods" || r.Verb == "create" || !slices.Contains([]string{"", "resize"}, r.Subresource) {
			return
		}
		containers, _, _ := unstructured.NestedSlice(object.Object, "spec", "containers")
		for _, each := range containers {
			container := each.(map[string]any)
			if asked, is, _ := unstructured.NestedString(container, fields...); is && (words[1] == "*" || asked == words[1]) {
				_ = unstructured.SetNestedField(container, words[2], fields...)
			}
		}
		_ = unstructured.SetNestedSlice(object.Object, containers, "spec", "containers")
	})
	return ""
}

// waits lists why pods are not as they should be.
func (c *cluster) waits() (out []string) {
	c.T.Helper()
	plan, err := c.reconciler.Plan(context.Background(), web)
	c.Must(err)
	for _, w := range plan.Waiting {
		out = append(out, string(w.Reason.Rule)+": "+w.Reason.Message)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
