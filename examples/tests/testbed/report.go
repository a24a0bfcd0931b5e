// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/examples/tests/testbed/podstate"
)

// How much a test that failed tells: with the manager's log below 200 lines, each short enough to be read.
const (
	mostPods    = 40
	mostObjects = 40
	mostEvents  = 60
	mostWidth   = 600
)

// report says what a namespace holds when a test has failed in it. That is pods, the objects of podwright's kinds with their
// status, and the last events.
func (s *Scene) report() string {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var lines []string
	add := func(title string, most int, all []string, err error) {
		lines = append(lines, fmt.Sprintf("%s: %d", title, len(all)))
		if err != nil {
			lines = append(lines, fmt.Sprint("  ", err))
		}
		for _, line := range Last(all, most) {
			lines = append(lines, fmt.Sprintf("  %.*s", mostWidth, line))
		}
	}
	add("pods", mostPods, s.describePods(), nil)
	objects, err := s.bed.describeObjects(ctx, s.Namespace)
	add("objects", mostObjects, objects, err)
	events, err := s.bed.describeEvents(ctx, s.Namespace)
	add("events, the last ones", mostEvents, events, err)
	return strings.Join(lines, "\n")
}

func (s *Scene) describePods() (all []string) {
	if s.Pods == nil { // the scene could not begin
		return nil
	}
	for _, pod := range s.Pods.All() {
		all = append(all, podstate.Describe(pod, false))
	}
	slices.Sort(all)
	return all
}

// groups are those whose objects a report tells of.
var groups = []string{"apps.kruise.io", "policy.kruise.io"}

// describeObjects returns a line for each object of podwright's kinds in a namespace, or of the cluster.
func (b *Testbed) describeObjects(ctx context.Context, namespace string) (all []string, err error) {
	for _, group := range groups {
		resources, err := b.Core.Discovery().ServerResourcesForGroupVersion(group + "/v1alpha1")
		if err != nil {
			return all, err
		}
		for _, r := range resources.APIResources {
			if strings.Contains(r.Name, "/") {
				continue
			}
			resource := b.Dynamic.Resource(schema.GroupVersionResource{Group: group, Version: "v1alpha1", Resource: r.Name})
			list, err := resource.Namespace(namespace).List(ctx, metav1.ListOptions{})
			if !r.Namespaced {
				list, err = resource.List(ctx, metav1.ListOptions{})
			}
			if err != nil {
				return all, err
			}
			for i := range list.Items {
				all = append(all, describeObject(&list.Items[i]))
			}
		}
	}
	return all, nil
}

// describeObject is an object in one line.
func describeObject(o *unstructured.Unstructured) string {
	status, err := json.Marshal(o.Object["status"])
	if err != nil {
		status = []byte(err.Error())
	}
	state := ""
	if o.GetDeletionTimestamp() != nil {
		state = " terminating"
	}
	return fmt.Sprintf("%s %s%s generation %d %s", o.GetKind(), o.GetName(), state, o.GetGeneration(), status)
}

// describeEvents returns a line for each event in a namespace, the last ones last.
func (b *Testbed) describeEvents(ctx context.Context, namespace string) (all []string, err error) {
	list, err := b.Core.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(list.Items, func(x, y corev1.Event) int { return cmp.Compare(eventTime(&x).UnixNano(), eventTime(&y).UnixNano()) })
	for i := range list.Items {
		e := &list.Items[i]
		all = append(all, fmt.Sprintf("%s %s %s/%s %s: %s", eventTime(e).Format(time.TimeOnly), e.Type, e.InvolvedObject.Kind, e.InvolvedObject.Name,
			e.Reason, strings.ReplaceAll(e.Message, "\n", " ")))
	}
	return all, nil
}

// eventTime is when an event happened last.
func eventTime(e *corev1.Event) time.Time {
	switch {
	case e.Series != nil:
		return e.Series.LastObservedTime.Time
	case !e.LastTimestamp.IsZero():
		return e.LastTimestamp.Time
	case !e.EventTime.IsZero():
		return e.EventTime.Time
	}
	return e.CreationTimestamp.Time
}
