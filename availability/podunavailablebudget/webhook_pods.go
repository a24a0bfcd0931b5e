// SPDX-License-Identifier: Apache-2.0

package podunavailablebudget

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/podwright/podwright/availability/budget"
	"github.com/podwright/podwright/availability/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/apiwriter"
)

// retryAfter is after how many seconds a client that may not evict a pod should try again: kubectl
// drain waits as long by itself.
const retryAfter = 5

// cleaners are the parts of Kubernetes that delete what has lost its owner. They delete pods
// whose workload is gone, and those of a namespace that goes. (PUB-27)
var cleaners = []string{
	"system:serviceaccount:kube-system:generic-garbage-collector",
	"system:serviceaccount:kube-system:namespace-controller",
}

// ValidatePod answers DELETE and UPDATE of pods, UPDATE of their resize and CREATE of their
// eviction. What the budget of the pod does not allow is refused. An eviction gets the code 429 and
// the cause DisruptionBudget, as from a PodDisruptionBudget, so that kubectl drain tries again. The
// others get 403. (PUB-28)
func (w *Webhook) ValidatePod(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	if request.Resource.Group != "" || request.Resource.Resource != "pods" {
		return admission.Allowed()
	}
	var err error
	switch sub := request.SubResource; {
	case request.Operation == admissionv1.Delete && sub == "" && w.Deletions:
		err = w.deleted(ctx, request)
	case request.Operation == admissionv1.Create && sub == "eviction" && w.Deletions:
		err = w.evicted(ctx, request)
	case request.Operation == admissionv1.Update && (sub == "" || sub == "resize") && w.Updates:
		err = w.updated(ctx, request)
	}
	if err != nil {
		return admission.Errored(err)
	}
	return admission.Allowed()
}

func (w *Webhook) deleted(ctx context.Context, request *admissionv1.AdmissionRequest) error {
	pod, err := admission.OldObject[corev1.Pod](request)
	if pod == nil || err != nil || slices.Contains(cleaners, request.UserInfo.Username) {
		return err
	}
	options := &metav1.DeleteOptions{}
	if err := decode(request.Options.Raw, options); err != nil {
		return err
	}
	if err := meets(pod, options); err != nil {
		return err
	}
	return w.ask(ctx, request, inquiry{pod: pod, operation: v1alpha1.PubDeleteOperation}, options)
}

func (w *Webhook) evicted(ctx context.Context, request *admissionv1.AdmissionRequest) error {
	eviction := &policyv1.Eviction{} // v1beta1 has the same fields
	if err := decode(request.Object.Raw, eviction); err != nil {
		return err
	}
	if eviction.DeleteOptions == nil {
		eviction.DeleteOptions = &metav1.DeleteOptions{}
	}
	pod, err := w.podOf(ctx, request, eviction.DeleteOptions)
	if pod == nil || err != nil {
		return err // the API server says itself that there is no such pod
	}
	q := inquiry{pod: pod, operation: v1alpha1.PubEvictOperation, live: func(ctx context.Context) (*corev1.Pod, error) {
		return w.readPod(ctx, request, eviction.DeleteOptions)
	}}
	if named, err := w.Guard.named(ctx, pod); named || err != nil {
		if err != nil {
			return fmt.Errorf("read PodUnavailableBudget %s: %w", relatedTo(pod), err)
		}
		return w.ask(ctx, request, q, eviction.DeleteOptions)
	}
	names, err := w.Guard.mayBeOf(pod)
	for _, name := range names {
		q.budget = name
		if err := w.ask(ctx, request, q, eviction.DeleteOptions); err != nil {
			return err
		}
	}
	return err
}

// podOf returns the pod that is to be evicted, from the cache if that has it naming a budget; nil if there is none. (PUB-33)
func (w *Webhook) podOf(ctx context.Context, request *admissionv1.AdmissionRequest, options *metav1.DeleteOptions) (*corev1.Pod, error) {
	if w.Pods != nil {
		pod, err := apiwriter.Found(w.Pods.Pods(request.Namespace).Get(request.Name))
		if err != nil {
			return nil, err
		}
		if pod != nil && meets(pod, options) == nil && relatedTo(pod) != "" {
			return pod, nil
		}
	}
	return w.readPod(ctx, request, options)
}

// readPod reads the pod that is to be evicted; nil if there is none.
func (w *Webhook) readPod(ctx context.Context, request *admissionv1.AdmissionRequest, options *metav1.DeleteOptions) (*corev1.Pod, error) {
	pod, err := apiwriter.Found(w.Kubernetes.CoreV1().Pods(request.Namespace).Get(ctx, request.Name, metav1.GetOptions{}))
	if pod == nil || err != nil {
		return nil, err
	}
	return pod, meets(pod, options)
}

// seemsProtected tells whether a budget protects a pod, by what the pod itself says. (PUB-14.1 to PUB-14.3)
func seemsProtected(b *v1alpha1.PodUnavailableBudget, pod *corev1.Pod) bool {
	return b != nil && relatedTo(pod) == b.Name && pod.Annotations[v1alpha1.PodPubNoProtectionAnnotation] != "true" && budget.Ready(pod) && budget.MayCount(b, pod)
}

func (w *Webhook) updated(ctx context.Context, request *admissionv1.AdmissionRequest) error {
	after, before, err := admission.Objects[corev1.Pod](request)
	if err != nil || relatedTo(before) == "" {
		return err
	}
	operation := budget.UpdateOf(before, after)
	if operation == "" {
		return nil
	}
	return w.ask(ctx, request, inquiry{pod: before, operation: operation}, nil)
}

// ask asks the budget of a pod. The error is the answer if it says no. (PUB-28)
func (w *Webhook) ask(ctx context.Context, request *admissionv1.AdmissionRequest, q inquiry, options *metav1.DeleteOptions) error {
	q.dryRun = request.DryRun != nil && *request.DryRun || options != nil && slices.Contains(options.DryRun, metav1.DryRunAll)
	decision, err := w.Guard.decide(ctx, q)
	switch {
	case err == nil && decision.Allowed:
		return nil
	case err == nil:
		err = errors.New(decision.Reason)
	}
	if !q.dryRun {
		w.tell(q.pod)
	}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: v1alpha1.GroupName, Resource: "podunavailablebudget"}, q.name(), err)
	if q.operation != v1alpha1.PubEvictOperation {
		return forbidden
	}
	if !q.dryRun {
		w.note(ctx, q.pod)
	}
	later := apierrors.NewTooManyRequests(forbidden.Error(), retryAfter)
	later.ErrStatus.Details.Name, later.ErrStatus.Details.Kind = request.Name, "pods"
	later.ErrStatus.Details.Causes = []metav1.StatusCause{{
		Type: policyv1.DisruptionBudgetCause, Message: fmt.Sprintf("PodUnavailableBudget %s: %v", q.name(), err),
	}}
	return later
}

// meets returns a conflict if a pod is not the one that is to be deleted. (PUB-29)
func meets(pod *corev1.Pod, options *metav1.DeleteOptions) error {
	p := options.Preconditions
	if p == nil || (p.UID == nil || *p.UID == pod.UID) && (p.ResourceVersion == nil || *p.ResourceVersion == pod.ResourceVersion) {
		return nil
	}
	return apierrors.NewConflict(corev1.Resource("pods"), pod.Name, fmt.Errorf("the preconditions do not hold for the pod with UID %s and resourceVersion %s", pod.UID, pod.ResourceVersion))
}

// decode takes no bytes for an empty object.
func decode(raw []byte, into any) error {
	if len(raw) == 0 {
		return nil
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("%s %v", http.StatusText(http.StatusBadRequest), err))
	}
	return nil
}
