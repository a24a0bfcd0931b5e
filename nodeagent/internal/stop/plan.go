// SPDX-License-Identifier: Apache-2.0

package stop

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
)

// Request says which container to stop, and how.
type Request struct {
	// ID and SandboxID are those of the runtime.
	ID, SandboxID string
	// GraceSeconds is the time that the container has to stop, its preStop hook
	// included.
	GraceSeconds int64
	// PreStop is its hook; nil for none. It does not run without a grace period.
	PreStop *corev1.LifecycleHandler
	// ports are the container's, for a hook that names one.
	ports []corev1.ContainerPort
	// PodIP is the address to which an httpGet hook without a host goes. Default: the runtime
	// is asked.
	PodIP string
	// Pod is what the events are about.
	Pod corev1.ObjectReference
}

// Known returns the request that the runtime's own data make: what the kubelet
// wrote down when it created the container. A deletion's grace period goes
// before that of the spec; without both it is 0. The error names what is not
// readable and is left out of the request, which is good for use nevertheless.
func Known(c *criv1.Container) (Request, error) {
	pod, annotations := nodeagent.PodOf(c.GetLabels()), c.GetAnnotations()
	r := Request{
		ID: c.GetId(), SandboxID: c.GetPodSandboxId(),
		Pod: corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
	}
	var errs []error
	for _, key := range []string{nodeagent.TerminationGracePeriodAnnotation, nodeagent.DeletionGracePeriodAnnotation} {
		if text, found := annotations[key]; found {
			seconds, err := strconv.ParseInt(text, 10, 64)
			if err != nil || seconds < 0 {
				errs = append(errs, fmt.Errorf("annotation %s is %q: want seconds", key, text))
				continue
			}
			r.GraceSeconds = seconds
		}
	}
	errs = append(errs, decode(annotations, nodeagent.PreStopAnnotation, &r.PreStop), decode(annotations, nodeagent.PortsAnnotation, &r.ports))
	if err := errors.Join(errs...); err != nil {
		return r, fmt.Errorf("container %s: %w", c.GetId(), err)
	}
	return r, nil
}

// decode decodes an annotation, if there is one.
func decode(annotations map[string]string, key string, into any) error {
	text, found := annotations[key]
	if !found {
		return nil
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		return fmt.Errorf("annotation %s is not readable: %w", key, err)
	}
	return nil
}

// runsHook tells whether the hook runs.
func (r *Request) runsHook() bool { return r.PreStop != nil && r.grace() > 0 }

// within returns the request with a grace period of so much at most.
func (r *Request) within(most time.Duration) *Request {
	out := *r
	out.GraceSeconds = min(r.GraceSeconds, int64(most/time.Second))
	return &out
}

// mostGrace keeps a grace period within what a time.Duration can say.
const mostGrace = 100 * 365 * 24 * time.Hour

func (r *Request) grace() time.Duration {
	return time.Duration(min(max(r.GraceSeconds, 0), int64(mostGrace/time.Second))) * time.Second
}

// graceAfter is the time that the container has after a hook that took a while,
// of which whole seconds count.
func (r *Request) graceAfter(hook time.Duration) time.Duration {
	const least = lifecyclev1alpha1.MinContainerRecreateGracePeriodSeconds * time.Second
	return max(r.grace()-hook.Truncate(time.Second), least)
}
