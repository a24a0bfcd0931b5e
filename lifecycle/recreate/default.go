// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// Default fills in, in place, what a new request gets from its pod. It fills in the labels
// by which a node agent finds it, and the grace period. Of every container it fills in the
// preStop hook and what runs now. The pod is not changed. (CRR-3.3)
//
// A request that ValidatePod refuses is filled in as far as the pod goes.
func Default(request *v1alpha1.ContainerRecreateRequest, pod *corev1.Pod) {
	if request.Labels == nil {
		request.Labels = map[string]string{}
	}
	request.Labels[v1alpha1.ContainerRecreateRequestActiveLabel] = activeValue
	request.Labels[v1alpha1.ContainerRecreateRequestNodeNameLabel] = pod.Spec.NodeName
	request.Labels[v1alpha1.ContainerRecreateRequestPodUIDLabel] = string(pod.UID)

	defaultStrategy(&request.Spec)
	if s := request.Spec.Strategy; s.TerminationGracePeriodSeconds == nil && pod.Spec.TerminationGracePeriodSeconds != nil {
		s.TerminationGracePeriodSeconds = ptr.To(*pod.Spec.TerminationGracePeriodSeconds)
	}
	for i := range request.Spec.Containers {
		defaultContainer(&request.Spec.Containers[i], pod)
	}
}

// activeValue is the value of the label active; selectors ask for it.
const activeValue = "true"

// defaultStrategy sets what does not come from the pod.
func defaultStrategy(spec *v1alpha1.ContainerRecreateRequestSpec) {
	if spec.Strategy == nil {
		spec.Strategy = &v1alpha1.ContainerRecreateRequestStrategy{}
	}
	if spec.Strategy.FailurePolicy == "" {
		spec.Strategy.FailurePolicy = v1alpha1.ContainerRecreateRequestFailurePolicyFail
	}
}

func defaultContainer(c *v1alpha1.ContainerRecreateRequestContainer, pod *corev1.Pod) {
	if of := podstate.Container(pod, c.Name); of != nil && of.Lifecycle != nil && of.Lifecycle.PreStop != nil {
		c.PreStop = of.Lifecycle.PreStop.DeepCopy()
		if c.PreStop.HTTPGet != nil { // its port may be the name of one of them
			c.Ports = slices.Clone(of.Ports)
		}
	}
	if status := podstate.ContainerStatus(pod, c.Name); status != nil {
		c.StatusContext = &v1alpha1.ContainerRecreateRequestContainerContext{
			ContainerID: status.ContainerID, RestartCount: status.RestartCount,
		}
	}
}
