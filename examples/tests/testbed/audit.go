// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
)

// Writes counts what managers have written in the namespace so far and the API server has accepted. It returns the number
// for each kind of write, such as "patch pods/status" or "create persistentvolumeclaims". It needs Options.Audit.
func (s *Scene) Writes() map[string]int {
	s.Helper()
	log, err := s.auditLog()
	if err != nil {
		s.Fatalf("the audit log: %v", err)
	}
	writes := map[string]int{}
	for line := range bytes.Lines(log) {
		if !bytes.Contains(line, []byte(s.Namespace)) || !bytes.HasSuffix(line, []byte("\n")) {
			continue // of others, or still being written
		}
		request, err := parseRequest(line)
		if err != nil {
			s.Fatalf("%v", err)
		}
		object := request.ObjectRef
		if object.Namespace != s.Namespace || request.ResponseStatus.Code >= 300 ||
			!strings.HasPrefix(request.UserAgent, ManagerProgram) || reads[request.Verb] || strings.Contains(request.RequestURI, "dryRun=") {
			continue
		}
		writes[request.what()]++
	}
	return writes
}

// request is what an audit log tells of a request.
type request struct {
	Verb, UserAgent, RequestURI string
	User                        struct{ Username string }
	ObjectRef                   struct{ APIGroup, Resource, Subresource, Namespace, Name string }
	ResponseStatus              struct{ Code int }
	Annotations                 map[string]string
}

func parseRequest(line []byte) (r request, err error) {
	if err := json.Unmarshal(line, &r); err != nil {
		return r, fmt.Errorf("the audit log: %w in %s", err, line)
	}
	return r, nil
}

// resource returns the resource with the subresource.
func (r request) resource() string {
	if r.ObjectRef.Subresource == "" {
		return r.ObjectRef.Resource
	}
	return r.ObjectRef.Resource + "/" + r.ObjectRef.Subresource
}

// what returns what is done to which resource.
func (r request) what() string { return r.Verb + " " + r.resource() }

var reads = map[string]bool{"get": true, "list": true, "watch": true}

// auditLog returns what has been logged since the scene began.
func (s *Scene) auditLog() ([]byte, error) {
	log, err := os.Open(s.bed.Control.AuditLog())
	if err != nil {
		return nil, err
	}
	defer log.Close()
	if _, err := log.Seek(s.auditStart, io.SeekStart); err != nil {
		return nil, err
	}
	return io.ReadAll(log)
}
