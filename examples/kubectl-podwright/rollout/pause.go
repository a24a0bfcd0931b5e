// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/examples/kubectl-podwright/workload"
)

// setPaused pauses a rollout or resumes it, and returns the object as JSON. What is so already is an error. (KC-7)
func setPaused(o *workload.Object, paused bool) ([]byte, error) {
	kind := o.Kind()
	if kind == nil || kind.Paused == nil {
		if paused {
			return nil, errors.New("pausing is not supported")
		}
		return nil, errors.New("resuming is not supported")
	}
	is, _, err := unstructured.NestedBool(o.Object, kind.Paused...)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", strings.Join(kind.Paused, "."), err)
	case is && paused:
		return nil, errors.New("is already paused")
	case !is && !paused:
		return nil, errors.New("is not paused")
	}
	if err := unstructured.SetNestedField(o.Object, paused, kind.Paused...); err != nil {
		return nil, err
	}
	return o.MarshalJSON()
}

// restartedAt is the annotation of the pod template that kubectl restarts workloads with.
const restartedAt = "kubectl.kubernetes.io/restartedAt"

// restarted changes the pod template by an annotation, and returns the object as JSON. A rollout that is paused is not
// restarted: nothing would happen, until something did. (KC-8)
func restarted(o *workload.Object, now time.Time) ([]byte, error) {
	path, kind := o.TemplatePath(), o.Kind()
	if path == nil || kind.Name == "BroadcastJob" {
		return nil, errors.New("restarting is not supported")
	}
	if paused, _, _ := unstructured.NestedBool(o.Object, kind.Paused...); kind.Paused != nil && paused {
		return nil, fmt.Errorf("can't restart paused %s (run rollout resume first)", kind.Words)
	}
	annotation := append(path[:len(path):len(path)], "metadata", "annotations", restartedAt)
	if err := unstructured.SetNestedField(o.Object, now.Format(time.RFC3339), annotation...); err != nil {
		return nil, err
	}
	return o.MarshalJSON()
}
