// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kubernetesfake "k8s.io/client-go/kubernetes/fake"
	kubernetestesting "k8s.io/client-go/testing"

	"github.com/podwright/podwright"
	"github.com/podwright/podwright/distribution/v1alpha1"
)

// WS-21.2: patches are tried on the template of the workload, and what they make wrong is told by their field.
func TestWebhookTriesPatches(t *testing.T) {
	const broken, good = "subsets: [{name: a}, {name: b, patch: {spec: {containers: [{name: main, image: ''}]}}}]", "subsets: [{name: a, patch: {spec: {hostNetwork: true}}}]"
	template := corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "nginx:1"}}}}
	noPolicy := template.DeepCopy()
	noPolicy.Spec.DNSPolicy = "Wrong"
	for _, test := range []struct {
		name     string
		template *corev1.PodTemplateSpec // of the Deployment; nil: there is none
		spec     string
		old      string
		off      bool
		fails    error
		want     string
		asked    int
	}{
		{name: "a good one", template: &template, spec: good, asked: 1},
		{name: "a broken one", template: &template, spec: broken, asked: 2,
			want: "400: spec.subsets[1].patch: Invalid value: pods of Deployment web would be invalid: spec.containers[0].image: Required value"},
		{name: "one that is no patch of a pod", template: &template, spec: "subsets: [{name: a, patch: {spec: {containers: 5}}}]",
			want: "400: spec.subsets[0].patch: Invalid value: what the patch makes of the pod is none: "},
		{name: "what is wrong with the template is no fault of the patch", template: noPolicy, spec: good, asked: 2},
		{name: "what the stored one has", template: &template, spec: broken, old: strings.Replace(broken, "{name: a}", "{name: c}", 1)},
		{name: "a workload that is not there", spec: broken},
		{name: "none", template: &template, spec: "subsets: [{name: a}]"},
		{name: "as OpenKruise 1.4", template: &template, spec: broken, off: true},
		{name: "no verdict", template: &template, spec: broken, fails: apierrors.NewForbidden(schema.GroupResource{Resource: "podtemplates"}, "", nil), asked: 1,
			want: "the patches were tried only in part, because the API server gave no verdict on them: Forbidden"},
	} {
		t.Run(test.name, func(t *testing.T) {
			kube, asked := kubernetesfake.NewClientset(), 0
			if test.template != nil {
				kube = kubernetesfake.NewClientset(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}, Spec: appsv1.DeploymentSpec{Template: *test.template}})
			}
			kube.PrependReactor("create", "podtemplates", func(action kubernetestesting.Action) (bool, runtime.Object, error) {
				asked++
				if test.fails != nil {
					return true, nil, test.fails
				}
				return true, nil, judged(action.(kubernetestesting.CreateAction).GetObject().(*corev1.PodTemplate))
			})
			w := &Webhook{Kubernetes: kube, Templates: kube.CoreV1(), Features: FeaturesOf(podwright.Release19)}
			if test.off {
				w.Features = FeaturesOf(podwright.Release14)
			}
			request := &admissionv1.AdmissionRequest{UID: "1", Operation: admissionv1.Create, Namespace: "default", Name: "web",
				Kind: metav1.GroupVersionKind{Group: v1alpha1.GroupName, Version: "v1alpha1", Kind: kind}, Object: raw(t, newSpread(t, "web", test.spec))}
			if test.old != "" {
				request.Operation, request.OldObject = admissionv1.Update, raw(t, newSpread(t, "web", test.old))
			}
			response, got := w.Validate(t.Context(), request), ""
			if !response.Allowed {
				_, message, _ := strings.Cut(response.Result.Message, "is invalid: ")
				got = "400: " + message
			} else if len(response.Warnings) > 0 {
				got = response.Warnings[0]
			}
			if !strings.HasPrefix(got, test.want) || test.want == "" && got != "" || asked != test.asked {
				t.Errorf("WS-21.2: asked %d times, want %d: %s", asked, test.asked, cmp.Diff(test.want, got))
			}
		})
	}
}

// judged is what an API server says of a template: containers need images, and a DNS policy is one that there is.
func judged(template *corev1.PodTemplate) error {
	var errs field.ErrorList
	path := field.NewPath("template", "spec")
	for i, c := range template.Template.Spec.Containers {
		if c.Image == "" {
			errs = append(errs, field.Required(path.Child("containers").Index(i).Child("image"), ""))
		}
	}
	if template.Template.Spec.DNSPolicy == "Wrong" {
		errs = append(errs, field.NotSupported(path.Child("dnsPolicy"), corev1.DNSPolicy("Wrong"), []corev1.DNSPolicy{corev1.DNSDefault}))
	}
	if len(errs) == 0 {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Kind: "PodTemplate"}, "", errs)
}
