// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/testing/fakecluster/fixture"
)

// inquire asks one webhook, and shows its answer and what it has read for it. What it writes is shown anyway.
func (w *world) inquire(what, name string, named map[string]string) {
	webhook := *w.webhooks[0]
	switch named["webhook"] {
	case "other":
		webhook = *w.webhooks[1]
	case "no-deletions":
		webhook.Deletions = false
	case "no-updates":
		webhook.Updates = false
	case "no-pods":
		webhook.Pods = nil
	case "unprotected":
		known := cache.NewIndexer(cache.MetaNamespaceKeyFunc, byNamespace)
		for _, pod := range w.Pods() {
			pod.Annotations = nil // from before they were told of their budget
			w.Must(known.Add(&pod))
		}
		webhook.Pods = corev1listers.NewPodLister(known)
	case "told":
		webhook.Recorder = &w.Events
	case "measured":
		webhook.Guard.options.Metrics = decisions{w.trace}
	}
	pod, err := w.Kube.CoreV1().Pods("default").Get(w.T.Context(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		pod = newPod(name, noOwner)
	}
	request := w.requestFor(what, pod, named)
	for key, to := range map[string]*[]byte{"object": &request.Object.Raw, "old": &request.OldObject.Raw, "options": &request.Options.Raw} {
		if text, is := named[key]; is {
			*to = []byte(text)
		}
	}
	request.SubResource = cmp.Or(named["sub"], request.SubResource)
	request.Resource.Group = named["group"]
	request.UserInfo.Username = named["as"]
	if named["dry"] != "" {
		request.DryRun = new(true)
	}
	w.ForgetRequests()
	events, start := len(w.Events.About()), time.Now()
	ask := webhook.ValidatePod
	if named["webhook"] == "cached" {
		ask = w.caching.ValidatePod
	}
	response := ask(w.T.Context(), request)
	got := answer(response)
	got, _, _ = strings.Cut(got, " and resourceVersion ") // which depends on what happens at once
	w.trace.Note(cmp.Or(got, "allowed"))
	if named["whole"] != "" {
		w.trace.Note(string(raw(response.Result)))
	}
	if took := time.Since(start); took > 2*time.Second {
		w.trace.Note("after " + took.Round(time.Second).String())
	}
	for _, sent := range w.Sent() {
		if strings.Contains(sent, " get ") {
			w.trace.Note(sent)
		}
	}
	for _, about := range w.Events.About()[events:] {
		w.trace.Note("event about " + about.Kind + " " + about.Namespace + "/" + about.Name)
	}
}

// decisions notes the answers that are measured.
type decisions struct{ trace *fixture.Trace }

func (d decisions) Decided(namespace, budget string, operation v1alpha1.PubOperation, allowed bool, took time.Duration) {
	d.trace.Note(fmt.Sprintf("measured: %s/%s %s %t after %s", namespace, budget, operation, allowed, took))
}

func (d decisions) Gone(namespace, budget string) { d.trace.Note("gone: " + namespace + "/" + budget) }

// requestFor is what the API server sends about an operation, on the present pod.
func (w *world) requestFor(what string, pod *corev1.Pod, named map[string]string) *admissionv1.AdmissionRequest {
	options := metav1.DeleteOptions{}
	switch named["uid"] {
	case "own":
		options.Preconditions = &metav1.Preconditions{UID: &pod.UID}
	case "another":
		options.Preconditions = &metav1.Preconditions{UID: new(types.UID("another"))}
	}
	switch what {
	case "delete-now":
		options.GracePeriodSeconds = new(int64(0))
		return deletion(pod, options)
	case "delete":
		return deletion(pod, options)
	case "create":
		return about(admissionv1.Create, "", pod.Name)
	case "evict":
		return eviction(pod.Name, &options)
	case "evict-dry":
		return eviction(pod.Name, &metav1.DeleteOptions{DryRun: []string{metav1.DryRunAll}})
	case "update":
		return update(pod, "", newImage)
	case "update-status":
		return update(pod, "status", newImage)
	case "label":
		return update(pod, "", func(pod *corev1.Pod) { pod.Labels["a"] = "b" })
	case "hold-out":
		return update(pod, "", func(pod *corev1.Pod) { pod.Labels["unavailable-pod.kruise.io/x"] = "b" })
	case "update-and-unlink":
		return update(pod, "", func(pod *corev1.Pod) {
			newImage(pod)
			delete(pod.Annotations, v1alpha1.RelatedPubAnnotation)
		})
	case "resize":
		return resized(pod, corev1.NotRequired)
	case "resize-restart":
		return resized(pod, corev1.RestartContainer)
	}
	w.T.Fatalf("no operation %s", what)
	return nil
}

// resized gives a container a CPU more, with or without a restart.
func resized(pod *corev1.Pod, policy corev1.ResourceResizeRestartPolicy) *admissionv1.AdmissionRequest {
	main := &pod.Spec.Containers[0]
	main.ResizePolicy = []corev1.ContainerResizePolicy{{ResourceName: "cpu", RestartPolicy: policy}}
	main.Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1")}
	return update(pod, "resize", func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("1")}
	})
}

// feature switches on these Features of the webhooks, and no others.
func (w *world) feature(names []string) {
	for _, webhook := range w.webhooks {
		webhook.Guard.options.Features.ResizesAlone = slices.Contains(names, "resizes-alone")
		webhook.Guard.options.Features.InconsistentMayGo = slices.Contains(names, "inconsistent-may-go")
	}
}
