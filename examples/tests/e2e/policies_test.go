// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	criv1 "k8s.io/cri-api/pkg/apis/runtime/v1"

	distributionclient "github.com/podwright/podwright/distribution/client"
	distributionv1alpha1 "github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/examples/nodeagent/app"
	lifecycleclient "github.com/podwright/podwright/lifecycle/client"
	lifecyclev1alpha1 "github.com/podwright/podwright/lifecycle/v1alpha1"
)

// An agent may do all that it does with the token that a kubelet gives it, and with that of another node nothing of it. It is
// among TestFaults because there are two nodes more.
func testAgentsAreHeldToTheirNodes(t *testing.T, b *bed) {
	s := b.cloneSetFixture(t)
	account, err := b.AgentAccount(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	a := s.newNodeAgent(account, s.bareNode())
	other := s.bareNode()
	node, err := s.Core.CoreV1().Nodes().Get(t.Context(), other, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	stranger := s.boundTo(account, &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Node", Name: node.Name, UID: node.UID})
	pod := a.runPod("web")
	a.awaitPolicies(stranger, pod)

	a.askForWork(pod)
	a.start()
	a.awaitAllWrites(pod)
	refusals := map[string]string{
		"patch pods/status":                      "the agent of node " + other + " may not write to pod " + s.Namespace + "/web, of node " + a.node,
		"patch containerrecreaterequests":        "the agent of node " + other + " may not write to ContainerRecreateRequest " + s.Namespace + "/again, of node " + a.node,
		"patch containerrecreaterequests/status": "the agent of node " + other + " may not write to ContainerRecreateRequest " + s.Namespace + "/again, of node " + a.node,
		"patch nodeimages/status":                "the agent of node " + other + " may not write to nodeimages " + a.node + ", of node " + a.node,
		"patch nodepodprobes/status":             "the agent of node " + other + " may not write to nodepodprobes " + a.node + ", of node " + a.node,
		"create events":                          "want source.host, and reportingInstance if it is set, to be " + other,
		"patch events":                           "to be " + other,
	}
	for kind, write := range a.accepted() {
		if err := write.repeat(t.Context(), stranger); err == nil || !strings.HasPrefix(err.Error(), "403 ") || refusals[kind] == "" || !strings.Contains(err.Error(), refusals[kind]) {
			s.Errorf("%s with the token of another node: expected %q, observed %v", kind, refusals[kind], err)
		}
		if err := write.repeat(t.Context(), s.connectAs(account)); err == nil || !strings.Contains(err.Error(), "the token names no node") {
			s.Errorf("%s with a token that names no node: observed %v", kind, err)
		}
	}
	a.forge(pod)
}

// runPod creates a pod on the node, which the agent reports on, and plays its kubelet.
func (a *nodeAgent) runPod(name string) *corev1.Pod {
	a.Helper()
	pod := a.createPod(plainPod(name, func(p *corev1.Pod) {
		p.Spec.NodeName, p.Annotations, p.Labels = a.node, map[string]string{"kruise.io/sidecarset-hash": "{}"}, map[string]string{"app": "web"}
	}))
	a.Cleanup(func() {
		_ = a.Core.CoreV1().Pods(a.Namespace).Delete(context.Background(), name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
	})
	a.sync(name)
	return pod
}

// sync has the kubelet make a step for a pod.
func (a *nodeAgent) sync(pod string) {
	a.Helper()
	if err := a.kubelet.Sync(a.Context(), a.Namespace, pod); err != nil {
		a.Fatalf("the kubelet's step for pod %s: %v", pod, err)
	}
}

// awaitPolicies waits until the policies are in force.
func (a *nodeAgent) awaitPolicies(stranger *rest.Config, pod *corev1.Pod) {
	a.Helper()
	client, err := typedcorev1.NewForConfig(stranger)
	if err != nil {
		a.Fatal(err)
	}
	a.AwaitAsking("the policies are in force", func() string {
		_, err := client.Pods(a.Namespace).Patch(a.Context(), pod.Name, types.StrategicMergePatchType, []byte(`{}`),
			metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, "status")
		if err == nil || !strings.Contains(err.Error(), "may not write to pod") {
			return fmt.Sprint(err)
		}
		return ""
	})
	a.AwaitAsking("the API server has found nothing odd in the policies", func() string {
		list, err := a.Core.AdmissionregistrationV1().ValidatingAdmissionPolicies().List(a.Context(), metav1.ListOptions{})
		if err != nil {
			return err.Error()
		}
		for _, policy := range list.Items {
			if policy.Status.TypeChecking == nil || len(policy.Status.TypeChecking.ExpressionWarnings) > 0 {
				return fmt.Sprintf("%s: %+v", policy.Name, policy.Status)
			}
		}
		return ""
	})
}

// askForWork makes work for the agent, so that it has to make every kind of write. It requests a container that was replaced
// since, an image that cannot be pulled, and a probe that no PodProbeMarker has asked for.
func (a *nodeAgent) askForWork(pod *corev1.Pod) {
	a.Helper()
	client, err := lifecycleclient.NewForConfig(a.Config())
	if err != nil {
		a.Fatal(err)
	}
	again := recreateRequest("again", pod.Name, nil, "main")
	again.Spec.Strategy.ForceRecreate = true
	if _, err := client.ContainerRecreateRequests(a.Namespace).Create(a.Context(), again, metav1.CreateOptions{}); err != nil {
		a.Fatal(err)
	}
	for _, c := range a.runtime.Containers() {
		a.runtime.End(c.Status.Id, 1)
	}
	a.sync(pod.Name)
	a.runtime.Pull = func(context.Context, *criv1.PullImageRequest) error { return errors.New("no such image") }
	a.pull(1)
	probes, err := json.Marshal(&lifecyclev1alpha1.NodePodProbe{
		TypeMeta:   metav1.TypeMeta{APIVersion: lifecyclev1alpha1.SchemeGroupVersion.String(), Kind: "NodePodProbe"},
		ObjectMeta: metav1.ObjectMeta{Name: a.node},
		Spec: lifecyclev1alpha1.NodePodProbeSpec{PodProbes: []lifecyclev1alpha1.PodProbe{{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, Probes: []lifecyclev1alpha1.ContainerProbe{{
			Name: "env", ContainerName: "main", Probe: corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{"env"}}}}}}}}},
	})
	if err != nil {
		a.Fatal(err)
	}
	if _, err := client.NodePodProbes().Patch(a.Context(), a.node, types.ApplyPatchType, probes, metav1.PatchOptions{FieldManager: "test", Force: new(true)}); err != nil {
		a.Fatal(err)
	}
}

// nodeImages are those of all nodes.
func (a *nodeAgent) nodeImages() distributionclient.NodeImageInterface {
	a.Helper()
	client, err := distributionclient.NewForConfig(a.Config())
	if err != nil {
		a.Fatal(err)
	}
	return client.NodeImages()
}

// pull has the agent pull an image for the n-th time.
func (a *nodeAgent) pull(n int64) {
	a.Helper()
	data, err := json.Marshal(&distributionv1alpha1.NodeImage{
		TypeMeta:   metav1.TypeMeta{APIVersion: distributionv1alpha1.SchemeGroupVersion.String(), Kind: "NodeImage"},
		ObjectMeta: metav1.ObjectMeta{Name: a.node},
		Spec: distributionv1alpha1.NodeImageSpec{Images: map[string]distributionv1alpha1.ImageSpec{"registry.example/web": {Tags: []distributionv1alpha1.ImageTagSpec{{
			Tag: "1", CreatedAt: new(metav1.Now()), Version: n,
			PullPolicy: &distributionv1alpha1.ImageTagPullPolicy{BackoffLimit: new(int32(0)), TTLSecondsAfterFinished: new(int32(3600))},
		}}}}},
	})
	if err != nil {
		a.Fatal(err)
	}
	if _, err := a.nodeImages().Patch(a.Context(), a.node, types.ApplyPatchType, data, metav1.PatchOptions{FieldManager: "test", Force: new(true)}); err != nil {
		a.Fatal(err)
	}
}

// awaitAllWrites waits until the agent has made every kind of write that it has RBAC rules for.
func (a *nodeAgent) awaitAllWrites(pod *corev1.Pod) {
	a.Helper()
	parts, err := app.Permissions(app.NewConfig(func(string) string { return "" }))
	if err != nil {
		a.Fatal(err)
	}
	pulls := int64(1)
	a.AwaitAsking("the agent has made every kind of write", func() string {
		a.sync(pod.Name)
		written, missing := a.accepted(), map[string]bool{}
		for _, part := range parts {
			for _, rule := range part.Rules {
				for _, verb := range rule.Verbs {
					kind := verb + " " + rule.Resources[0]
					if _, found := written[kind]; !found && (verb == "create" || verb == "patch") {
						missing[kind] = true
					}
				}
			}
		}
		if missing["patch events"] && a.pulled(pulls) {
			pulls++
			a.pull(pulls) // the event of the failure is counted up
		}
		return strings.Join(slices.Sorted(maps.Keys(missing)), ", ")
	})
}

// pulled tells whether the agent has ended a pull.
func (a *nodeAgent) pulled(n int64) bool {
	a.Helper()
	image, err := a.nodeImages().Get(a.Context(), a.node, metav1.GetOptions{})
	if err != nil {
		a.Fatal(err)
	}
	return slices.ContainsFunc(image.Status.ImageStatuses["registry.example/web"].Tags, func(tag distributionv1alpha1.ImageTagStatus) bool {
		return tag.Version == n && tag.CompletionTime != nil
	})
}

// forge makes writes of other kinds with the agent's own token, for its own pod and request, and for a pod that is being deleted.
func (a *nodeAgent) forge(pod *corev1.Pod) {
	a.Helper()
	const (
		ofPod     = "an agent reports on a pod in the annotation apps.kruise.io/runtime-containers-meta alone: "
		ofRequest = "an agent announces what it stops in the annotation crr.podwright.io/stopping alone: "
	)
	leaving := a.createPod(plainPod("leaving", func(p *corev1.Pod) { p.Spec.NodeName, p.Finalizers = a.node, []string{"example.com/hold"} }))
	a.Cleanup(func() {
		_, _ = a.Core.CoreV1().Pods(a.Namespace).Patch(context.Background(), leaving.Name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
	})
	if err := a.Core.CoreV1().Pods(a.Namespace).Delete(a.Context(), leaving.Name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}); err != nil {
		a.Fatal(err)
	}
	merge, apply := string(types.MergePatchType), string(types.ApplyPatchType)+"?fieldManager=forger&force=true"
	pods, requests := "/api/v1/namespaces/"+a.Namespace+"/pods/", "/apis/apps.kruise.io/v1alpha1/namespaces/"+a.Namespace+"/containerrecreaterequests/"
	for _, forgery := range []struct{ path, how, patch, want string }{
		{pods + "web/status", merge, `{"metadata":{"labels":{"app":"bank"}}}`, ofPod + "labels would change"},
		{pods + "web/status", merge, `{"metadata":{"annotations":{"kruise.io/sidecarset-hash":null}}}`, ofPod + "another annotation would change"},
		{pods + "web/status", merge, `{"metadata":{"annotations":{"apps.kruise.io/inplace-update-state":"{}"}}}`, ofPod + "another annotation would change"},
		{pods + "web/status", merge, `{"metadata":{"finalizers":["example.com/forged"]}}`, ofPod + "finalizers would change"},
		{pods + "web/status", merge, `{"status":{"podIP":"10.9.9.9","podIPs":[{"ip":"10.9.9.9"}]}}`, ofPod + "status would change"},
		{pods + "web/status", merge, `{"status":{"conditions":[{"type":"Ready","status":"True"}]}}`, ofPod + "status would change"},
		{pods + "web/status", apply, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","labels":{"app":"bank"}}}`, ofPod + "labels would change"},
		{pods + "leaving/status", merge, `{"status":{"phase":"Succeeded"}}`, ofPod + "status would change"},
		{pods + "leaving/status", merge, `{"metadata":{"finalizers":null}}`, ofPod + "finalizers would change"},
		{requests + "again", merge, `{"metadata":{"finalizers":["example.com/forged"]}}`, ofRequest + "finalizers would change"},
		{requests + "again", merge, `{"metadata":{"labels":{"app":"bank"}}}`, ofRequest + "labels would change"},
		{requests + "again", merge, `{"metadata":{"annotations":{"crr.apps.kruise.io/sync-container-statuses":"[]"}}}`, ofRequest + "another annotation would change"},
		// What RBAC does not grant, or another part of the API server refuses.
		{requests + "again", merge, `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"web","uid":"x"}]}}`, "cannot set an ownerRef on a resource you can't delete"},
		{pods + "web", merge, `{"metadata":{"labels":{"app":"bank"}}}`, `cannot patch resource "pods"`},
		{pods + "web/ephemeralcontainers", merge, `{}`, `cannot patch resource "pods/ephemeralcontainers"`},
		{requests + "forged", apply, `{"apiVersion":"apps.kruise.io/v1alpha1","kind":"ContainerRecreateRequest","metadata":{"name":"forged"},"spec":{"podName":"web","containers":[{"name":"main"}]}}`,
			`cannot create resource "containerrecreaterequests"`},
	} {
		contentType, query, _ := strings.Cut(forgery.how, "?")
		forged := write{method: "PATCH", path: forgery.path, contentType: contentType, body: []byte(forgery.patch)}
		if query != "" {
			forged.path += "?" + query
		}
		if err := forged.repeat(a.Context(), a.config); err == nil || !strings.HasPrefix(err.Error(), "403 ") || !strings.Contains(err.Error(), forgery.want) {
			a.Errorf("%s to %s: expected code 403 and %q, observed %v", forgery.patch, forgery.path, forgery.want, err)
		}
	}
}
