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

// imageListPullJob has the same fields in both versions.
var imageListPullJob = &admission.Conversion{
	Group: v1alpha1.GroupName, Kind: "ImageListPullJob", Resource: "imagelistpulljobs", Stored: admission.V1alpha1,
}

// nodeImage has the same fields in both versions.
var nodeImage = &admission.Conversion{
	Group: v1alpha1.GroupName, Kind: "NodeImage", Resource: "nodeimages", Stored: admission.V1alpha1,
}

var kinds = admission.Conversions{Path: Path, All: []*admission.Conversion{imagePullJob, imageListPullJob, nodeImage}}

// Handler answers the API server's ConversionReviews (apiextensions.k8s.io/v1)
// for the kinds of images, as that of workloads/conversion does for workloads. An
// API server that has the definitions of ServeV1beta1 does not ask: nothing but the version changes.
func Handler() http.Handler { return kinds.Handler() }

// ServeV1beta1 adds v1beta1 to the definitions of ImagePullJob, ImageListPullJob and NodeImage (of
// distribution.CRDs), beside v1alpha1, in which objects are still stored. Its schema is made of
// that of v1alpha1. Both have the same fields, so the API server converts by itself, and
// the client configuration is not used. All other definitions are left as they are.
//
// API servers tell clients to prefer v1beta1 from then on. To take it away again, apply the
// definition as it comes. An error says what is wrong with the definition, which is then unchanged.
func ServeV1beta1(crd *unstructured.Unstructured, client admissionregistrationv1.WebhookClientConfig) error {
	return kinds.ServeV1beta1(crd, client)
}

// StoreV1beta1 does for these kinds as StoreV1beta1 of workloads/conversion does for workloads.
func StoreV1beta1(crd *unstructured.Unstructured) error { return kinds.StoreV1beta1(crd) }

// ImagePullJob converts an ImagePullJob, a JSON document, to the version
// apps.kruise.io/v1alpha1 or apps.kruise.io/v1beta1: nothing but the version
// changes.
//
// An error says that the document is no JSON object, no ImagePullJob, or of an
// unknown version.
func ImagePullJob(object []byte, apiVersion string) ([]byte, error) {
	return imagePullJob.Convert(object, apiVersion)
}

// ImageListPullJob converts an ImageListPullJob as ImagePullJob does an ImagePullJob.
func ImageListPullJob(object []byte, apiVersion string) ([]byte, error) {
	return imageListPullJob.Convert(object, apiVersion)
}

// NodeImage converts a NodeImage as ImagePullJob does an ImagePullJob.
func NodeImage(object []byte, apiVersion string) ([]byte, error) {
	return nodeImage.Convert(object, apiVersion)
}
