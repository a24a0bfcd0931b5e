// SPDX-License-Identifier: Apache-2.0

package predownload

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/podwright/podwright/inplace/revision"
)

var cloneSet = schema.GroupVersionKind{Group: "apps.kruise.io", Version: "v1alpha1", Kind: "CloneSet"}

// template is a pod template with the containers main and log.
func template(mainImage, logImage string) *corev1.PodTemplateSpec {
	return &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "web", "tier": "front"}},
		Spec: corev1.PodSpec{
			InitContainers:   []corev1.Container{{Name: "init", Image: "init:1"}},
			Containers:       []corev1.Container{{Name: "main", Image: mainImage}, {Name: "log", Image: logImage}},
			ImagePullSecrets: []corev1.LocalObjectReference{{Name: "registry"}, {}, {Name: "mirror"}},
		},
	}
}

// rev is the revision web-<hash> of a template.
func rev(t testing.TB, hash string, template *corev1.PodTemplateSpec) *appsv1.ControllerRevision {
	t.Helper()
	data, err := revision.Data(template)
	if err != nil {
		t.Fatal(err)
	}
	return &appsv1.ControllerRevision{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "shop", Name: "web-" + hash, UID: types.UID("uid-" + hash),
			Labels: map[string]string{"app": "web", revision.HashLabel: hash},
		},
		Data: runtime.RawExtension{Raw: data},
	}
}

// workload is what the input reads of a workload.
func workload(annotations map[string]string) *metav1.ObjectMeta {
	return &metav1.ObjectMeta{Namespace: "shop", Name: "web", UID: "uid-web", Annotations: annotations}
}

// input is a CloneSet of 10 replicas that updates the image of one container in place.
func input(t testing.TB) *Input {
	return &Input{
		workload: workload(nil), kind: cloneSet,
		selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
		inPlace:  true,
		From:     []*appsv1.ControllerRevision{rev(t, "old", template("nginx:1", "log:1"))},
		to:       rev(t, "new", template("nginx:2", "log:1")),
		Replicas: 10, MaxUnavailable: intstr.FromString("20%"),
	}
}
