// SPDX-License-Identifier: Apache-2.0

package sidecarset

import (
	"context"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/internal/podtemplate"
	"github.com/podwright/podwright/internal/validation"
	"github.com/podwright/podwright/sidecar/injection"
	"github.com/podwright/podwright/sidecar/v1alpha1"
)

// ContainerChecker has the API server judge the containers and volumes of a SidecarSet. It is asked
// to create a core/v1 PodTemplate of them without storing it. So they are judged by the very
// release that will have to accept the pods.
//
// Only a verdict counts. If it cannot be had in time (no permission, no quota, an API server in
// trouble), the SidecarSet is allowed with a warning.
type ContainerChecker struct {
	// Client is asked, the CoreV1 of a clientset. Required.
	Client typedcorev1.PodTemplatesGetter
	// Namespace is the one in which the PodTemplate would be created. Required.
	Namespace string
}

// Rules returns the RBAC rules that the checker needs; none for a nil one.
func (k *ContainerChecker) Rules() []rbacv1.PolicyRule {
	if k == nil {
		return nil
	}
	return []rbacv1.PolicyRule{manifests.JudgeTemplates()}
}

// confirm answers a change that nothing but the containers can be wrong with. (SCS-W4)
func (k *ContainerChecker) confirm(ctx context.Context, c admissionChange) *admissionv1.AdmissionResponse {
	template := templateOf(&c.Object.Spec)
	if k == nil || c.Old != nil && template.Equal(templateOf(&c.Old.Spec)) {
		return admission.Allowed()
	}
	errs, noVerdict := validation.Verdict(ctx, c.Request, k.Namespace, template, validation.DryRun{Client: k.Client})
	for _, err := range errs {
		err.Field = "spec" + strings.TrimPrefix(strings.TrimPrefix(err.Field, "spec.template"), ".spec")
	}
	if err := invalid(c.Request, errs); err != nil {
		return admission.Errored(err)
	}
	response := admission.Allowed()
	if noVerdict != "" {
		response.Warnings = []string{"the containers were checked only in part, because the API server gave no verdict on them: " + noVerdict}
	}
	return response
}

// templateOf is the template of a pod that has nothing but what a SidecarSet injects, and
// a container of its own.
func templateOf(spec *v1alpha1.SidecarSetSpec) podtemplate.Templates {
	template := &corev1.PodTemplateSpec{Spec: corev1.PodSpec{Volumes: spec.Volumes}}
	for i := range spec.InitContainers {
		template.Spec.InitContainers = append(template.Spec.InitContainers, spec.InitContainers[i].Container)
	}
	var seconds []corev1.Container // of hot ones
	for i := range spec.Containers {
		template.Spec.Containers = append(template.Spec.Containers, spec.Containers[i].Container)
		if names := injection.NamesOf(&spec.Containers[i]); len(names) > 1 {
			second := *spec.Containers[i].Container.DeepCopy()
			second.Name, second.Image = names[1], spec.Containers[i].UpgradeStrategy.HotUpgradeEmptyImage
			seconds = append(seconds, second)
		}
	}
	template.Spec.Containers = append(template.Spec.Containers, seconds...)
	template.Spec.Containers = append(template.Spec.Containers, corev1.Container{Name: "the-app-of-the-pod", Image: "app"})
	for _, secret := range spec.ImagePullSecrets {
		template.Spec.ImagePullSecrets = append(template.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: secret.Name})
	}
	return podtemplate.Templates{Pod: template}
}
