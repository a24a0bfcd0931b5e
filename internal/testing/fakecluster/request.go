// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Request is one request that has reached the server.
type Request struct {
	// User is whom the configuration of the client was made for.
	User string
	// Verb is get, list, watch, create, update, patch or delete.
	Verb string
	// Group is that of the resource, empty for the core group.
	Group string
	// Resource is the name of the resource, Subresource "status" for example
	// or empty.
	Resource, Subresource string
	// Namespace and Name of the object. A list has no name, and a creation
	// has none yet.
	Namespace, Name string
	// Body is what was sent.
	Body []byte
	// DryRun asks what would come of a creation, an update, a patch, a deletion or an eviction,
	// which changes nothing.
	DryRun bool

	query       url.Values
	contentType string
	media       media
	admission   *admission
	storage     *storage
}

// String is the verb and what it was applied to, "patch pods/status" for example.
func (r *Request) String() string {
	s := r.Verb + " " + r.Resource
	if r.Subresource != "" {
		s += "/" + r.Subresource
	}
	return s
}

// read makes a Request of an HTTP request.
func (s *Server) read(h *http.Request) (*Request, error) {
	r := &Request{
		User: h.Header.Get("User-Agent"), query: h.URL.Query(),
		contentType: strings.TrimSpace(strings.Split(h.Header.Get("Content-Type"), ";")[0]),
	}
	if h.Body != nil {
		defer h.Body.Close()
		var err error
		if r.Body, err = io.ReadAll(h.Body); err != nil {
			return nil, err
		}
	}
	parts := strings.Split(strings.Trim(h.URL.Path, "/"), "/")
	var group string
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		group, parts = parts[1], parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		r.Group = parts[1]
		group, parts = parts[1]+"/"+parts[2], parts[3:]
	default:
		return r, errUnknown(h.URL.Path)
	}
	if len(parts) >= 3 && parts[0] == "namespaces" {
		r.Namespace, parts = parts[1], parts[2:]
	}
	r.Resource = parts[0]
	if len(parts) > 1 {
		r.Name = parts[1]
	}
	if len(parts) > 2 {
		r.Subresource = strings.Join(parts[2:], "/")
	}
	if r.storage = s.resources[group+"/"+r.Resource]; r.storage == nil {
		return r, errUnknown(h.URL.Path)
	}
	if r.contentType == mediaProtobuf && len(r.Body) > 0 {
		var err error
		if r.Body, err = fromProtobuf(r.Body); err != nil {
			return r, err
		}
		r.contentType = mediaJSON
	}
	return r, r.findVerb(h.Method)
}

func (r *Request) findVerb(method string) error {
	switch {
	case method == http.MethodGet && r.query.Get("watch") == "true":
		r.Verb = "watch"
	case method == http.MethodGet && r.Name == "":
		r.Verb = "list"
	case method == http.MethodGet:
		r.Verb = "get"
	case method == http.MethodPost:
		r.Verb = "create"
	case method == http.MethodPut && r.Name != "":
		r.Verb = "update"
	case method == http.MethodPatch && r.Name != "":
		r.Verb = "patch"
	case method == http.MethodDelete && r.Name != "":
		r.Verb = "delete"
	default:
		return errMethod(r, method)
	}
	return r.findDryRun()
}

// findDryRun finds out whether a request is a dry run: if it deletes something, its options
// say so.
func (r *Request) findDryRun() error {
	r.DryRun = r.query.Has("dryRun")
	deletes := r.Verb == "delete" || r.evicts()
	switch {
	case deletes && len(r.Body) > 0:
		var body struct {
			DryRun        []string `json:"dryRun"`
			DeleteOptions struct {
				DryRun []string `json:"dryRun"`
			} `json:"deleteOptions"`
		}
		if err := decode(r.Body, &body); err != nil {
			return badRequest(err)
		}
		r.DryRun = r.DryRun || len(body.DryRun)+len(body.DeleteOptions.DryRun) > 0
	case r.DryRun && !deletes && r.Verb != "create" && r.Verb != "update" && r.Verb != "patch":
		return badRequest(fmt.Errorf("fakecluster makes no dry run of a %s", r.Verb))
	}
	return nil
}

// evicts tells whether a request evicts a pod.
func (r *Request) evicts() bool {
	return r.Verb == "create" && r.Resource == "pods" && r.Subresource == "eviction"
}

// Kind is that of the objects of the resource.
func (r *Request) Kind() schema.GroupVersionKind { return r.storage.GroupVersionKind }
