// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// attempts is how often a patch is tried that others get in the way of.
const attempts = 5

// PatchTransport lets clients patch workloads by strategic merge. The API server takes such patches of built-in
// kinds only. Of others it is asked for the object, and gets a merge patch that holds for this resourceVersion
// alone. A conflict is tried again with the newer object. Other requests pass as they are. (KC-3)
func PatchTransport(next http.RoundTripper) http.RoundTripper { return &patchTransport{next} }

type patchTransport struct{ next http.RoundTripper }

// RoundTrip sends one request.
func (t *patchTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if !isStrategic(request) {
		return t.next.RoundTrip(request)
	}
	patch, err := io.ReadAll(request.Body)
	request.Body.Close()
	if err != nil {
		return nil, err
	}
	for left := attempts - 1; ; left-- {
		response, err := t.patch(request, patch)
		if err != nil || response.StatusCode != http.StatusConflict || left == 0 {
			return response, err
		}
		response.Body.Close()
	}
}

func isStrategic(request *http.Request) bool {
	return request.Method == http.MethodPatch && request.Body != nil &&
		strings.HasPrefix(request.Header.Get("Content-Type"), string(types.StrategicMergePatchType)) &&
		strings.Contains(request.URL.Path, "/apis/"+Group+"/")
}

// patch reads the object and sends what the patch changes in it. An answer that is not the object is returned unchanged.
func (t *patchTransport) patch(request *http.Request, patch []byte) (*http.Response, error) {
	get := request.Clone(request.Context())
	get.Method, get.Body, get.ContentLength, get.URL.RawQuery = http.MethodGet, nil, 0, ""
	get.GetBody = nil
	get.Header.Del("Content-Type")
	get.Header.Set("Accept", "application/json")
	response, err := t.next.RoundTrip(get)
	if err != nil || response.StatusCode != http.StatusOK {
		return response, err
	}
	current, err := io.ReadAll(response.Body)
	response.Body.Close()
	if err != nil {
		return nil, err
	}
	body, err := mergePatch(current, patch)
	if err != nil {
		return nil, fmt.Errorf("patch %s: %w", request.URL.Path, err)
	}
	send := request.Clone(request.Context())
	send.Header.Set("Content-Type", string(types.MergePatchType))
	send.Body, send.ContentLength, send.GetBody = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	return t.next.RoundTrip(send)
}

// mergePatch returns the merge patch that does to an object what a strategic merge patch means.
func mergePatch(current, strategic []byte) ([]byte, error) {
	modified, err := strategicpatch.StrategicMergePatch(current, strategic, Object{})
	if err != nil {
		return nil, err
	}
	merge, err := jsonpatch.CreateMergePatch(current, modified)
	if err != nil {
		return nil, err
	}
	var object unstructured.Unstructured
	if err := json.Unmarshal(current, &object.Object); err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := utiljson.Unmarshal(merge, &fields); err != nil {
		return nil, err
	}
	if err := unstructured.SetNestedField(fields, object.GetResourceVersion(), "metadata", "resourceVersion"); err != nil {
		return nil, err
	}
	return json.Marshal(fields)
}
