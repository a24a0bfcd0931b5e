// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/podwright/podwright/internal/podstate"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
	sidecarv1alpha1 "github.com/podwright/podwright/sidecar/v1alpha1"
)

// kind is what errors call a request.
const kind = "ContainerRecreateRequest"

// ValidateCreate says what is wrong with a new request that can be told without
// its pod, field by field. An empty list means that ValidatePod is to be asked
// next. It takes a request as a user sends it, before Default. (CRR-3.2.1 to CRR-3.2.5)
func ValidateCreate(request *v1alpha1.ContainerRecreateRequest) field.ErrorList {
	spec, path := &request.Spec, field.NewPath("spec")
	var errs field.ErrorList
	if spec.PodName == "" {
		errs = append(errs, field.Required(path.Child("podName"), "it names the pod whose containers to recreate"))
	}
	if len(spec.Containers) == 0 {
		errs = append(errs, field.Required(path.Child("containers"), "it names the containers to recreate, at least one"))
	}
	if deadline := spec.ActiveDeadlineSeconds; deadline != nil && *deadline < v1alpha1.MinContainerRecreateActiveDeadlineSeconds {
		errs = append(errs, field.Invalid(path.Child("activeDeadlineSeconds"), *deadline,
			fmt.Sprintf("must be %d or more", v1alpha1.MinContainerRecreateActiveDeadlineSeconds)))
	}
	if spec.Strategy == nil {
		return errs
	}
	path = path.Child("strategy")
	errs = append(errs, notNegative(spec.Strategy.TerminationGracePeriodSeconds, path.Child("terminationGracePeriodSeconds"))...)
	errs = append(errs, notNegative(spec.Strategy.UnreadyGracePeriodSeconds, path.Child("unreadyGracePeriodSeconds"))...)
	return append(errs, validation.Enum(spec.Strategy.FailurePolicy, path.Child("failurePolicy"),
		v1alpha1.ContainerRecreateRequestFailurePolicyFail, v1alpha1.ContainerRecreateRequestFailurePolicyIgnore)...)
}

func notNegative(seconds *int64, path *field.Path) field.ErrorList {
	if seconds == nil || *seconds >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *seconds, "must be 0 or more")}
}

// ValidatePod says what keeps a new request from being applied to its pod,
// field by field; an empty list means that it can be created. The pod should be
// as new as can be had: a request remembers which runs of its containers it
// means. (CRR-3.2.7 to CRR-3.2.10)
func ValidatePod(request *v1alpha1.ContainerRecreateRequest, pod *corev1.Pod) field.ErrorList {
	path := field.NewPath("spec")
	at := path.Child("podName")
	switch {
	case pod.DeletionTimestamp != nil:
		return field.ErrorList{field.Invalid(at, request.Spec.PodName, "the pod is being deleted")}
	case podstate.Ended(pod) && request.Name != sidecarv1alpha1.SidecarTerminationRequestPrefix+string(pod.UID):
		return field.ErrorList{field.Invalid(at, request.Spec.PodName, fmt.Sprintf("the pod has ended, its phase is %s", pod.Status.Phase))}
	case pod.Spec.NodeName == "":
		return field.ErrorList{field.Invalid(at, request.Spec.PodName, "the pod is not on a node yet")}
	case isMirror(pod):
		return field.ErrorList{field.Invalid(at, request.Spec.PodName, v1alpha1.ContainerRecreateMessageStaticPod)}
	}
	var errs field.ErrorList
	seen := map[string]bool{}
	for i := range request.Spec.Containers {
		c, at := &request.Spec.Containers[i], path.Child("containers").Index(i)
		if seen[c.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), c.Name))
			continue
		}
		seen[c.Name] = true
		errs = append(errs, validateContainer(c, pod, at)...)
	}
	return errs
}

func validateContainer(c *v1alpha1.ContainerRecreateRequestContainer, pod *corev1.Pod, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, filled := range []struct {
		field string
		set   bool
	}{{"preStop", c.PreStop != nil}, {"ports", len(c.Ports) > 0}, {"statusContext", c.StatusContext != nil}} {
		if filled.set {
			errs = append(errs, field.Forbidden(path.Child(filled.field), "it is copied from the pod: leave it out"))
		}
	}
	status := podstate.ContainerStatus(pod, c.Name)
	switch {
	case podstate.Container(pod, c.Name) == nil:
		errs = append(errs, field.Invalid(path.Child("name"), c.Name,
			fmt.Sprintf("pod %s has no such container; init and ephemeral containers cannot be recreated", pod.Name)))
	case status == nil:
		errs = append(errs, field.Invalid(path.Child("name"), c.Name, "the kubelet has not reported a status of the container yet"))
	case status.ContainerID == "":
		errs = append(errs, field.Invalid(path.Child("name"), c.Name, "the container has not been started yet"))
	}
	return errs
}
