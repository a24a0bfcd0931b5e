// SPDX-License-Identifier: Apache-2.0

package deletion

import (
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/podwright/podwright/internal/admission"
	"github.com/podwright/podwright/internal/validation"
)

// RefusalMetrics receives which deletions are refused. Implementations must be safe for use by several goroutines.
type RefusalMetrics interface {
	// Refused is called for every request to delete an object that its label protects. The namespace is empty for
	// what is in none. Dry runs count.
	Refused(kind schema.GroupKind, namespace string)
}

// Counted returns handlers that tell metrics of the deletions that they refuse since a label protects the object. It is for
// those of a Webhook, and for those of the workloads of podwright, by whatever paths. What admission policies
// refuse never comes to a webhook: the API server counts that itself. (DP-16)
func Counted(handlers map[string]http.Handler, metrics RefusalMetrics) map[string]http.Handler {
	counted := make(map[string]http.Handler, len(handlers))
	for path, handler := range handlers {
		counted[path] = admission.Observed(handler, func(request *admissionv1.AdmissionRequest, response *admissionv1.AdmissionResponse) {
			if request.Operation == admissionv1.Delete && !response.Allowed && response.Result != nil && validation.IsProtection(response.Result.Message) {
				metrics.Refused(schema.GroupKind{Group: request.Kind.Group, Kind: request.Kind.Kind}, request.Namespace)
			}
		})
	}
	return counted
}
