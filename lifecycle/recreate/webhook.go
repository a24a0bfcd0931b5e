// SPDX-License-Identifier: Apache-2.0

package recreate

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/manifests"
	"github.com/podwright/podwright/lifecycle/v1alpha1"
)

// MutatePath is the path by which webhook configurations name Webhook.Default. There is
// no validating webhook.
const MutatePath = "/mutate-apps-kruise-io-v1alpha1-containerrecreaterequest"

// PodLookup returns a pod, or an error for which apierrors.IsNotFound holds.
type PodLookup func(ctx context.Context, namespace, name string) (*corev1.Pod, error)

// NodeLookup returns a node, or an error.
type NodeLookup func(ctx context.Context, name string) (*corev1.Node, error)

// Webhook answers admission requests for ContainerRecreateRequests. It may be
// used by many goroutines.
//
// Requests for other kinds and for subresources are allowed as they are. An
// object that cannot be decoded is refused with the code 400.
type Webhook struct {
	// Pods looks up the pod of a new request. It should ask the API server
	// itself. With a cache that is behind, a request may mean a run of a
	// container that has ended meanwhile, and nothing would be restarted.
	// Required; if it is nil, new requests are refused with the code 500.
	Pods PodLookup
	// Nodes looks up the node of the pod, so that a request for a virtual node can be told by its label. A cache is good enough.
	// Nil: no request has the label. (CRR-3.4)
	Nodes NodeLookup
	// Disabled refuses every request with the code 403: nodes have no agents
	// that would carry it out.
	Disabled bool
}

// Handlers returns the HTTP handlers by the paths that existing webhook
// configurations call.
func (w *Webhook) Handlers() map[string]http.Handler { return w.admission().Handlers() }

// Rules returns the RBAC rules that the webhook needs: for Pods to get pods, and for Nodes to
// get nodes. Without both it needs none.
func (w *Webhook) Rules() []rbacv1.PolicyRule {
	return slices.Concat(
		manifests.If(w.Pods != nil, manifests.Rule("", "pods", "get")),
		manifests.If(w.Nodes != nil, manifests.Rule("", "nodes", "get")),
	)
}

// Default answers CREATE and UPDATE. It refuses a wrong request with the code
// 400, and a change that is not allowed with the code 403. It gives a cause for
// every field. A new request that is right it fills in by a JSON patch, see the
// function Default. Fields that this version does not know stay as they are.
func (w *Webhook) Default(ctx context.Context, review *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	return w.admission().Mutate(ctx, review)
}

type change = admission.Change[v1alpha1.ContainerRecreateRequest]

func (w *Webhook) admission() admission.Webhook[v1alpha1.ContainerRecreateRequest] {
	return admission.Webhook[v1alpha1.ContainerRecreateRequest]{
		GroupKind: v1alpha1.Kind(kind), MutatePath: MutatePath,
		Default: func(ctx context.Context, c change) error {
			switch {
			case w.Disabled:
				return admission.Forbidden(c.Request, "feature-gate KruiseDaemon is not enabled")
			case c.Old != nil:
				return admission.Invalid(c.Request, ValidateUpdate(c.Object, c.Old), http.StatusForbidden, metav1.StatusReasonForbidden)
			}
			return w.fillIn(ctx, c)
		},
	}
}

// fillIn checks and fills in a new request.
func (w *Webhook) fillIn(ctx context.Context, c change) error {
	if errs := ValidateCreate(c.Object); len(errs) > 0 {
		return admission.Invalid(c.Request, errs, http.StatusBadRequest, metav1.StatusReasonBadRequest)
	}
	pod, err := w.pod(ctx, c.Request.Namespace, c.Object.Spec.PodName)
	if err != nil {
		return err
	}
	if errs := ValidatePod(c.Object, pod); len(errs) > 0 {
		return admission.Invalid(c.Request, errs, http.StatusBadRequest, metav1.StatusReasonBadRequest)
	}
	Default(c.Object, pod)
	w.labelVirtual(ctx, c.Object, pod)
	return nil
}

// labelVirtual labels a request for a virtual node. One whose node cannot be read goes without: the agent of a node, which finds
// requests by other labels, needs no such label. (CRR-3.4)
func (w *Webhook) labelVirtual(ctx context.Context, request *v1alpha1.ContainerRecreateRequest, pod *corev1.Pod) {
	if w.Nodes == nil {
		return
	}
	node, err := w.Nodes(ctx, pod.Spec.NodeName)
	if err != nil {
		klog.FromContext(ctx).Info("A request may lack the label of virtual nodes", "pod", klog.KObj(pod), "node", pod.Spec.NodeName, "err", err.Error())
		return
	}
	if node.Labels[v1alpha1.VirtualNodeLabel] == v1alpha1.VirtualNodeValue {
		request.Labels[v1alpha1.VirtualNodeLabel] = v1alpha1.VirtualNodeValue
	}
}

// pod returns the pod of a new request. That there is none is the fault of the
// request, everything else is an internal error. (CRR-3.2.6)
func (w *Webhook) pod(ctx context.Context, namespace, name string) (*corev1.Pod, error) {
	if w.Pods == nil {
		return nil, errors.New("the webhook cannot look up pods: Webhook.Pods is nil")
	}
	pod, err := w.Pods(ctx, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("spec.podName: there is no pod %q in namespace %q", name, namespace))
	}
	if err != nil {
		return nil, apierrors.NewInternalError(fmt.Errorf("read pod %s/%s: %w", namespace, name, err))
	}
	return pod, nil
}
