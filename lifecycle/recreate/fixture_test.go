// SPDX-License-Identifier: Apache-2.0

package recreate_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/podwright/podwright/inplace/podpatch"
	"github.com/podwright/podwright/internal/testing/patches"
	"github.com/podwright/podwright/lifecycle/recreate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

var now = time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)

const (
	syncAnnotation = v1alpha1.ContainerRecreateRequestSyncContainerStatusesAnnotation
	acquired       = v1alpha1.ContainerRecreateRequestUnreadyAcquiredAnnotation
	finalizer      = v1alpha1.ContainerRecreateRequestUnreadyAcquiredFinalizer
	pending        = v1alpha1.ContainerRecreateRequestPending
	recreating     = v1alpha1.ContainerRecreateRequestRecreating
)

// words are those of testdata/words.yaml.
var words = patches.Read("testdata/words.yaml", now)

// newRequest is a request as a user creates it, changed by words.
func newRequest(changes ...string) *v1alpha1.ContainerRecreateRequest {
	return patches.Changed(words, &v1alpha1.ContainerRecreateRequest{}, append([]string{"new"}, changes...)...)
}

// request is a request that a node agent works on, created 10 seconds ago.
func request(changes ...string) *v1alpha1.ContainerRecreateRequest {
	r := newRequest()
	recreate.Default(r, runningPod())
	return patches.Changed(words, r, append([]string{"begun"}, changes...)...)
}

// runningPod is a pod in service, with the readiness gate. Its containers main
// and side were started before the request.
func runningPod(changes ...string) *corev1.Pod {
	return patches.Changed(words, &corev1.Pod{}, append([]string{"running"}, changes...)...)
}

// show writes a plan in a few words a step.
func show(pod *corev1.Pod, p *recreate.Plan) []string {
	out := []string{}
	for _, step := range p.Steps {
		switch {
		case step.Status != nil:
			out = append(out, fmt.Sprintf("%s: %s", step.Status.Phase, step.Status.Message))
		case step.Change != nil:
			out = append(out, showChange(step.Change))
		case step.Pod != nil:
			out = append(out, showPod(step.Pod, pod))
		case step.Delete:
			out = append(out, "delete")
		}
	}
	if p.RequeueAfter > 0 {
		out = append(out, "again after "+p.RequeueAfter.String())
	}
	return out
}

func showChange(c *recreate.Change) string {
	var words []string
	if c.AddFinalizer {
		words = append(words, "add finalizer")
	}
	if c.RemoveFinalizer {
		words = append(words, "remove finalizer")
	}
	for _, key := range slices.Sorted(maps.Keys(c.Annotations)) {
		_, name, _ := strings.Cut(key, "/")
		words = append(words, name+" "+c.Annotations[key])
	}
	if c.Deactivate {
		words = append(words, "deactivate")
	}
	return strings.Join(words, ", ")
}

func showPod(p *podpatch.Patch, pod *corev1.Pod) string {
	c := p.Condition(pod, v1alpha1.KruisePodReady)
	return fmt.Sprintf("pod %s %s", c.Status, c.Message)
}
