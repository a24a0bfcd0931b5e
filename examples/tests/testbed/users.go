// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/podwright/podwright/examples/tests/testbed/mirror"
)

// Config returns a configuration for clients of users, who have all rights. They repeat a write until there is a verdict
// on it. There is none if the API server fails it because a webhook has not answered in the ten seconds that it has. The
// same holds if a dry run says that a template was not checked in full. It also holds if a merge was not done within a
// minute, which changes nothing the second time. On a machine that is busy with other things, each of the three happens
// to any write.
func (b *Testbed) Config() *rest.Config {
	config := b.Control.Config()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &repeating{next} })
	return config
}

// repeating sends requests again that got no verdict.
type repeating struct{ next http.RoundTripper }

// RoundTrip sends a request until there is a verdict, or Patience is over; then it returns the last answer.
func (r *repeating) RoundTrip(request *http.Request) (*http.Response, error) {
	for deadline := time.Now().Add(Patience); ; mirror.Pause(request.Context()) {
		response, err := r.next.RoundTrip(request)
		if err != nil || time.Now().After(deadline) {
			return response, err
		}
		again, err := withoutVerdict(request, response)
		if err != nil || !again {
			return response, err
		}
		response.Body.Close()
		request = request.Clone(request.Context())
		if request.GetBody != nil {
			if request.Body, err = request.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// withoutVerdict says whether an answer leaves open if the request is a good one.
func withoutVerdict(request *http.Request, response *http.Response) (bool, error) {
	switch {
	case request.Method == http.MethodGet:
		return false, nil
	case response.StatusCode == http.StatusInternalServerError:
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		response.Body = io.NopCloser(bytes.NewReader(body))
		return bytes.Contains(body, []byte("failed calling webhook")) && bytes.Contains(body, []byte("context deadline exceeded")), err
	case response.StatusCode == http.StatusGatewayTimeout:
		return request.Method == http.MethodPatch && strings.Contains(request.Header.Get("Content-Type"), "merge-patch"), nil
	case request.URL.Query().Get("dryRun") == metav1.DryRunAll:
		return strings.Contains(strings.Join(response.Header.Values("Warning"), " "), "was checked only in part"), nil
	}
	return false, nil
}
