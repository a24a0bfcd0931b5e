// SPDX-License-Identifier: Apache-2.0

package conversion

import (
	"net/http"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/podwright/podwright/distribution/v1alpha1"
	"github.com/podwright/podwright/internal/admission"
)

// Path is the path at which Handler is served, unless the definition says otherwise.
const Path = "/convert-distribution"

// imagePullJob has the same fields in both versions. v1beta1 shows no messages.
var imagePullJob = &admission.Conversion{
	Group: v1alpha1.GroupName, Kind: "ImagePullJob", Resource: "imagepulljobs", Stored: admission.V1alpha1,
	NoColumns: []string{"MESSAGE"},
}

// nodeImage has the same fields in both versions.
var nodeImage = &admission.Conversion{
	Group: v1alpha1.GroupName, Kind: "NodeImage", Resource: "nodeimages", Stored: admission.V1alpha1,
}

var kinds = admission.Conversions{Path: Path, All: []*admission.Conversion{imagePullJob, nodeImage}}

// Handler answers the API server's ConversionReviews (apiextensions.k8s.io/v1)
// for ImagePullJobs and NodeImages, as that of workloads/conversion does for
// workloads.
func Handler() http.Handler { return kinds.Handler() }

// ServeV1beta1 adds v1beta1 to the definitions of ImagePullJob and NodeImage (of
// distribution.CRDs): served, and converted to v1alpha1, in which objects are still stored. The
// webhook that the client configuration leads to converts; it serves Handler. Its schema is made of
// that of v1alpha1. All other definitions are left as they are.
//
// API servers tell clients to prefer v1beta1 from then on. Requests in it fail
// while no program serves Handler; those in v1alpha1 need no conversion. To take
// v1beta1 away again, apply the definition as it comes.
//
// The configuration leads to a service in the cluster or to a URL; exactly one
// of them must be given. A service without a path gets Path, and one without a
// port 443; a URL is used unchanged. An error says what is wrong with the
// configuration or the definition, which is then unchanged.
func ServeV1beta1(crd *unstructured.Unstructured, client admissionregistrationv1.WebhookClientConfig) error {
	return kinds.ServeV1beta1(crd, client)
}

// ImagePullJob converts an ImagePullJob, a JSON document, to the version
// apps.kruise.io/v1alpha1 or apps.kruise.io/v1beta1: nothing but the version
// changes.
//
// An error says that the document is no JSON object, no ImagePullJob, or of an
// unknown version.
func ImagePullJob(object []byte, apiVersion string) ([]byte, error) {
	return imagePullJob.Convert(object, apiVersion)
}

// NodeImage converts a NodeImage as ImagePullJob does an ImagePullJob.
func NodeImage(object []byte, apiVersion string) ([]byte, error) {
	return nodeImage.Convert(object, apiVersion)
}
