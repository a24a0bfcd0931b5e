// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/podwright/podwright/lifecycle/v1alpha1"
	"github.com/podwright/podwright/nodeagent"
)

// refusal says why the request may do nothing to the containers that the runtime has
// under its pod UID. It is empty if the request may. A user who can create a request in a
// namespace writes any UID into it, if no webhook fills it in. What counts is what the
// kubelet has told the runtime. (CRR-5.3.10)
func (p *planner) refusal() string {
	pod := nodeagent.PodIdentity{
		Namespace: p.request.Namespace, Name: p.request.Spec.PodName,
		UID: types.UID(p.request.Labels[v1alpha1.ContainerRecreateRequestPodUIDLabel]),
	}
	if pod.UID == "" {
		return v1alpha1.ContainerRecreateMessageForeignPod
	}
	if len(p.Containers) == 0 {
		return ""
	}
	for _, c := range p.Containers {
		if nodeagent.PodOf(c.GetLabels()) != pod {
			return v1alpha1.ContainerRecreateMessageForeignPod
		}
	}
	switch {
	case nodeagent.PodOf(p.Sandbox.GetLabels()) != pod:
		return v1alpha1.ContainerRecreateMessageForeignPod
	case nodeagent.Static(p.Sandbox):
		return v1alpha1.ContainerRecreateMessageStaticPod
	}
	return ""
}
