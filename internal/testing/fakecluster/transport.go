// SPDX-License-Identifier: Apache-2.0

package fakecluster

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// transport answers HTTP requests from a server in the same process.
type transport struct{ server *Server }

// RoundTrip serves one request.
func (t *transport) RoundTrip(h *http.Request) (*http.Response, error) {
	if err := h.Context().Err(); err != nil {
		return nil, err
	}
	if response, asked, err := t.server.discover(h); asked || err != nil {
		return response, err
	}
	r, err := t.server.read(h)
	if err == nil {
		r.media, err = mediaOf(h, r.storage)
	}
	if err != nil {
		return answerError(h, err)
	}
	before, after := t.server.record(r)
	if before != nil {
		if err := before(*r); err != nil {
			return answerError(h, err)
		}
	}
	if r.Verb == "watch" {
		body, err := t.server.watch(h.Context(), r)
		if err != nil {
			return answerError(h, err)
		}
		return answer(h, http.StatusOK, r.media.contentType(true), body), nil
	}
	data, err := t.server.admittedAndServed(h.Context(), r)
	if err != nil {
		return answerError(h, err)
	}
	if after != nil {
		if err := after(*r); err != nil {
			return answerError(h, err)
		}
	}
	code := http.StatusOK
	if r.Verb == "create" {
		code = http.StatusCreated
	}
	if data, err = r.media.written(data); err != nil {
		return nil, err
	}
	return answer(h, code, r.media.contentType(false), io.NopCloser(bytes.NewReader(data))), nil
}

// serve answers everything but watches, in JSON.
func (s *Server) serve(r *Request) ([]byte, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	object, err := s.carryOut(r)
	if err != nil {
		return nil, err
	}
	return r.media.shown(object)
}

// carryOut does what a request asks for and returns the answer. The lock is held.
func (s *Server) carryOut(r *Request) (any, error) {
	if r.Verb == "create" {
		if err := s.refuseInEnding(r); err != nil {
			return nil, err
		}
	}
	switch {
	case r.Verb == "create" && r.Resource == "pods" && r.Subresource == "binding":
		return s.bind(r.storage, r)
	case r.Subresource == scale && r.storage.Scale != nil && (r.Verb == "get" || r.Verb == "update" || r.Verb == "patch"):
		return s.scale(r.storage, r)
	case r.evicts():
		return s.evict(r.storage, r)
	case (r.Subresource == ephemeral || r.Subresource == resize) && r.Resource == "pods" && (r.Verb == "patch" || r.Verb == "update" || r.Verb == "get"):
	case r.Subresource != "" && (r.Subresource != "status" || !r.storage.Status || r.Verb == "create" || r.Verb == "delete"):
		return nil, errUnknown(r.String())
	}
	switch r.Verb {
	case "get":
		return r.storage.get(r)
	case "list":
		return s.list(r.storage, r)
	case "create":
		return s.create(r.storage, r)
	case "update":
		return s.put(r.storage, r)
	case "patch":
		return s.patch(r.storage, r)
	default:
		return s.remove(r.storage, r)
	}
}

func answerError(h *http.Request, err error) (*http.Response, error) {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return nil, err
	}
	body := status.Status()
	body.Kind, body.APIVersion = "Status", "v1"
	data, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	response := answer(h, int(body.Code), mediaJSON, io.NopCloser(bytes.NewReader(data)))
	if body.Details != nil && body.Details.RetryAfterSeconds > 0 {
		response.Header.Set("Retry-After", strconv.Itoa(int(body.Details.RetryAfterSeconds)))
	}
	return response, nil
}

func answer(h *http.Request, code int, contentType string, body io.ReadCloser) *http.Response {
	return &http.Response{
		StatusCode: code, Status: strconv.Itoa(code) + " " + http.StatusText(code),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {contentType}}, Body: body, ContentLength: -1, Request: h,
	}
}

// decode reads JSON, whole numbers as int64.
func decode(data []byte, into any) error { return utiljson.Unmarshal(data, into) }
