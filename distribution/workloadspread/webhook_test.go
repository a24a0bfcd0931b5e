// SPDX-License-Identifier: Apache-2.0

package workloadspread

import (
	"context"
	"errors"
	"fmt"
	"testing"

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
	"github.com/podwright/podwright/distribution/client/fake"
	"github.com/podwright/podwright/distribution/spread"
	"github.com/podwright/podwright/internal/testing/conformance"
	workloadsfake "github.com/podwright/podwright/workloads/client/fake"
	workloadsv1alpha1 "github.com/podwright/podwright/workloads/v1alpha1"
)

// TestAdmission plays what the webhook says, in testdata/admission: see conformance.PlayAdmission. (WS-21, WS-22, WS-35)
//
//	others=web            there is the WorkloadSpread web, of the Deployment web; with "rs" there is one of the ReplicaSet web-1
//	kubernetes=web        there is the ReplicaSet web-1, of the Deployment web or db; with "none" there is nothing, with "failing" none can be read,
//	                      and with "deployment" there is the Deployment db, which selects by app=db
//	cloneset=db           there is the CloneSet db, which selects by app=db; with "none" it is not there
//	list=rollouts         the white list has Rollouts; with "empty" it has none, with "broken" it cannot be read
//	template=right        patches are tried on the template of the Deployment web, which may be "wrong" before; with "none" there is no Deployment,
//	                      with "forbidden" there is no verdict. How often the API server is asked shows
//	release=1.4           patches are not tried
func TestAdmission(t *testing.T) {
	var tried *int
	conformance.PlayAdmission(t, "testdata/admission", conformance.Admission{
		Kind: kind, Resource: "workloadspreads",
		Object: "{metadata: {namespace: default, name: new}, spec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, subsets: [{name: a}]}}",
		New: func(args map[string][]string) conformance.Served {
			w := &Webhook{}
			tried = nil
			if others := args["others"]; others != nil {
				ws := newSpread(t, others[0], "subsets: [{name: a}]")
				if others[0] == "rs" {
					ws.Spec.TargetReference.Kind, ws.Spec.TargetReference.Name = "ReplicaSet", "web-1"
				}
				w.Distribution = fake.NewClient(ws)
			}
			if objects := args["kubernetes"]; objects != nil {
				w.Kubernetes = kubernetesOf(objects[0])
			}
			if sets := args["cloneset"]; sets != nil {
				set := &workloadsv1alpha1.CloneSet{ObjectMeta: metav1.ObjectMeta{Name: sets[0], Namespace: "default"}}
				set.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}
				w.Workloads = workloadsfake.NewClient(set)
			}
			if list := args["list"]; list != nil {
				w.Whitelist = listed(list[0])
			}
			if template := args["template"]; template != nil {
				kube, asked := judging(template[0])
				w.Kubernetes, w.Templates, tried = kube, kube.CoreV1(), asked
				if w.Features = FeaturesOf(podwright.Release19); args["release"] != nil {
					w.Features = FeaturesOf(podwright.Release14)
				}
			}
			return w
		},
		Asked: func() string {
			if tried == nil {
				return ""
			}
			return fmt.Sprintf("\n    asked %d times", *tried)
		}})
}

// kubernetesOf is a cluster with what the argument kubernetes says.
func kubernetesOf(of string) *kubernetesfake.Clientset {
	switch of {
	case "none":
		return kubernetesfake.NewClientset()
	case "failing":
		kube := kubernetesfake.NewClientset()
		kube.PrependReactor("list", "replicasets", func(kubernetestesting.Action) (bool, runtime.Object, error) {
			return true, nil, errors.New("no answer")
		})
		return kube
	case "deployment":
		return kubernetesfake.NewClientset(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "db", Namespace: "default"},
			Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "db"}}}})
	}
	return kubernetesfake.NewClientset(&appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "web-1", Namespace: "default",
		OwnerReferences: []metav1.OwnerReference{*ownerOf("apps/v1", "Deployment", of, "d")}}})
}

// listed reads the white list that the argument list names.
func listed(name string) func(context.Context) (spread.Whitelist, error) {
	return func(context.Context) (spread.Whitelist, error) {
		switch name {
		case "rollouts":
			return spread.Whitelist{{GroupVersionKind: rollouts}}, nil
		case "broken":
			return nil, errors.New("broken")
		}
		return nil, nil
	}
}

// judging is a cluster with the Deployment web that the argument template says, which counts how often it judges a template.
func judging(of string) (kube *kubernetesfake.Clientset, asked *int) {
	kube, asked = kubernetesfake.NewClientset(), new(int)
	if of != "none" {
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}}
		deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "main", Image: "nginx:1"}}
		if of == "wrong" {
			deployment.Spec.Template.Spec.DNSPolicy = "Wrong"
		}
		kube = kubernetesfake.NewClientset(deployment)
	}
	kube.PrependReactor("create", "podtemplates", func(action kubernetestesting.Action) (bool, runtime.Object, error) {
		if *asked++; of == "forbidden" {
			return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: "podtemplates"}, "", nil)
		}
		return true, nil, judged(action.(kubernetestesting.CreateAction).GetObject().(*corev1.PodTemplate))
	})
	return kube, asked
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
