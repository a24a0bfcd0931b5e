// SPDX-License-Identifier: Apache-2.0

package takeover

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// lostAfter is how long an agent whose turn it is may take before it counts as gone. (CRR-M9)
const lostAfter = 10 * time.Minute

// requests says which requests to restart containers go on, and which of them OpenKruise never ends. Those that are completed or being
// deleted have finalizers at most.
func (c *check) requests() {
	for _, request := range c.Objects[restarts] {
		phase := text(request.Object, "status", "phase")
		if phase == string(lifecyclev1alpha1.ContainerRecreateRequestCompleted) || request.GetDeletionTimestamp() != nil {
			continue
		}
		_, bound := number(request.Object, "spec", "activeDeadlineSeconds")
		late, age := c.late(request), c.Now.Sub(request.GetCreationTimestamp().Time).Round(time.Minute)
		switch {
		case !bound && c.mirrored(request):
			c.stuck(title(request), "CRR-M8", "Its pod is the mirror of a static one: OpenKruise waits for ever.", "Nothing: podwright completes it.")
		case !bound && late && request.GetAnnotations()[lifecyclev1alpha1.ContainerRecreateRequestUnreadyAcquiredAnnotation] != "":
			c.stuck(title(request), "CRR-M9", fmt.Sprintf("It is %s old, and its pod is out of service for it. OpenKruise waits for an agent that is gone for ever.", age),
				"Nothing: if no agent takes it, podwright completes it after 10 minutes, and puts the pod back.")
		case !bound && late && phase != "":
			c.stuck(title(request), "CRR-M5", fmt.Sprintf("It is %s old and has no deadline. It does not end while the agent of its node is gone.", age),
				"See whether that agent runs, or delete it: podwright waits as well.")
		case phase == "":
			c.happens(title(request), "CRR-M3", "No agent has answered it yet. podwright counts the 60 s for that anew.")
		case bound:
			c.happens(title(request), "CRR-M4", "It goes on. podwright counts its deadline from when its manager first sees it, 15 minutes after the creation at the latest.")
		default:
			c.happens(title(request), "CRR-M5", "It goes on as its agent reports.")
		}
	}
}

// late tells whether an agent that is there would have brought a request further.
func (c *check) late(request *unstructured.Unstructured) bool {
	patience := lostAfter
	for _, wait := range []string{"unreadyGracePeriodSeconds", "terminationGracePeriodSeconds", "minStartedSeconds"} {
		seconds, _ := number(request.Object, "spec", "strategy", wait)
		patience += time.Duration(seconds) * time.Second
	}
	return c.Now.Sub(request.GetCreationTimestamp().Time) > patience
}

// mirrored tells whether a request is about the mirror of a static pod.
func (c *check) mirrored(request *unstructured.Unstructured) bool {
	return slices.ContainsFunc(c.Pods, func(pod *unstructured.Unstructured) bool {
		return pod.GetNamespace() == request.GetNamespace() && pod.GetName() == text(request.Object, "spec", "podName") &&
			pod.GetAnnotations()[corev1.MirrorPodAnnotationKey] != ""
	})
}
