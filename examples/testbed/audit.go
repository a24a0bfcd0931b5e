package testbed

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
)

// managerAgent begins the user agent of every request of a manager.
const managerAgent = "podwright-manager"

// Writes counts what managers have written in the namespace so far and the API server has accepted: "patch pods/status" or
// "create persistentvolumeclaims", each with its number. It needs Options.Audit.
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
		var request struct {
			Verb, UserAgent, RequestURI string
			ObjectRef                   struct{ Resource, Subresource, Namespace string }
			ResponseStatus              struct{ Code int }
		}
		if err := json.Unmarshal(line, &request); err != nil {
			s.Fatalf("the audit log: %v in %s", err, line)
		}
		object := request.ObjectRef
		if object.Namespace != s.Namespace || request.ResponseStatus.Code >= 300 ||
			!strings.HasPrefix(request.UserAgent, managerAgent) || reads[request.Verb] || strings.Contains(request.RequestURI, "dryRun=") {
			continue
		}
		what := request.Verb + " " + object.Resource
		if object.Subresource != "" {
			what += "/" + object.Subresource
		}
		writes[what]++
	}
	return writes
}

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
