// SPDX-License-Identifier: Apache-2.0

package deletion

import (
	"context"
	"errors"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/internal/admission"
)

// The paths by which webhook configurations name Webhook.Validate.
const (
	NamespacePath   = "/validate-namespace"
	DefinitionPath  = "/validate-customresourcedefinition"
	DeploymentPath  = "/validate-apps-deployment"
	ReplicaSetPath  = "/validate-apps-replicaset"
	StatefulSetPath = "/validate-apps-statefulset"
	ServicePath     = "/validate-service"
	IngressPath     = "/validate-ingress"
)

// Webhook answers admission requests for deletions. Its zero value protects all but
// Namespaces and CustomResourceDefinitions that are Cascading, which it refuses: it cannot
// count. It may be used by many goroutines.
//
// Other requests are allowed as they are, as are those for other kinds and for
// subresources. An old object that cannot be decoded is refused with the code 400. (DP-2)
type Webhook struct {
	// Disabled allows every deletion.
	Disabled bool
	// List lists what has to be counted, see Metadata.
	List List
	// Resources are the custom resources that List may list: Rules asks for them, and for pods.
	// A CustomResourceDefinition of another resource that is Cascading cannot be deleted, unless
	// the right comes from elsewhere. "*" stands for all resources of a group. (DP-9)
	Resources []schema.GroupResource
	// Claims lists the claims of a Namespace that is Cascading and has no active pods, as OpenKruise does from 1.5 on; see
	// ClaimsBy. Default nil: claims do not keep a Namespace from being deleted. (DP-13)
	Claims Claims
	// NoDefinitions refuses the deletion of each CustomResourceDefinition that is Cascading, whether it has objects or not. So
	// does OpenKruise 1.9 while its gate DeletionProtectionForCRDCascadingGate is off. (DP-15)
	NoDefinitions bool
}

// Handlers returns the HTTP handlers by the paths that existing webhook
// configurations call. CloneSets, StatefulSets and UnitedDeployments of apps.kruise.io are not
// among them: their own webhooks answer for their deletion too.
func (w *Webhook) Handlers() map[string]http.Handler {
	handlers := map[string]http.Handler{}
	for _, path := range []string{NamespacePath, DefinitionPath, DeploymentPath, ReplicaSetPath, StatefulSetPath, ServicePath, IngressPath} {
		handlers[path] = admission.Handler(w.Validate)
	}
	return handlers
}

// Validate answers DELETE of all kinds that can be protected. It refuses the deletion of
// what is protected with the code 403. (DP-1, DP-5)
func (w *Webhook) Validate(ctx context.Context, request *admissionv1.AdmissionRequest) *admissionv1.AdmissionResponse {
	kind := schema.GroupKind{Group: request.Kind.Group, Kind: request.Kind.Kind}
	if w.Disabled || request.Operation != admissionv1.Delete || !admission.IsAbout(request, kind) {
		return admission.Allowed()
	}
	switch {
	case isWorkload(kind):
		return admission.Deleted(request, func(old *replicated) error {
			return refusal(Decide(kind, old, old.Spec.Replicas))
		})
	case kind == namespace:
		return admission.Deleted(request, func(old *metav1.PartialObjectMetadata) error {
			decision := Decide(kind, old, nil)
			if decision.Count != ActivePods {
				return refusal(decision)
			}
			n, err := w.pods(ctx, request.Name)
			if err == nil && n == 0 && w.Claims != nil {
				decision.Count = BoundClaims
				n, err = w.claims(ctx, request.Name)
			}
			return errors.Join(err, refusal(decision.Counted(n)))
		})
	case kind == definition:
		return admission.Deleted(request, func(old *crd) error {
			decision := Decide(kind, old, nil)
			switch {
			case decision.Count != ActiveObjects:
				return refusal(decision)
			case w.NoDefinitions:
				return errors.New(gateOff)
			}
			n, err := w.objects(ctx, &old.Spec)
			return errors.Join(err, refusal(decision.Counted(n)))
		})
	case isEndpoint(kind):
		return admission.Deleted(request, func(old *metav1.PartialObjectMetadata) error { return refusal(Decide(kind, old, nil)) })
	}
	return admission.Allowed()
}

// gateOff is why no CustomResourceDefinition that is Cascading can be deleted, as OpenKruise words it. (DP-15)
const gateOff = "feature-gate DeletionProtectionForCRDCascadingGate is not enabled"

// replicated is what the webhook reads of a workload.
type replicated struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Replicas *int32 `json:"replicas"`
	} `json:"spec"`
}

func refusal(d Decision) error {
	if d.Reason == "" {
		return nil
	}
	return errors.New(d.Reason)
}
