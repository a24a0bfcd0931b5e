package registry

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/opencontainers/go-digest"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// ServeHTTP answers what the OCI distribution specification asks of a registry that is only read. The parameter ns is the
// host that the image's name has: a container runtime sets it when it asks another one.
func (r *Registry) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if request.Method != http.MethodGet && request.Method != http.MethodHead {
		refuse(w, http.StatusMethodNotAllowed, "UNSUPPORTED", "this registry is only read")
		return
	}
	path, ok := strings.CutPrefix(request.URL.Path, "/v2/")
	if !ok {
		refuse(w, http.StatusNotFound, "UNSUPPORTED", "no such path")
		return
	}
	host := request.URL.Query().Get("ns")
	if host == "" {
		host = request.Host
	}
	if name, which, found := cutLast(path, "/manifests/"); found {
		r.serveManifest(w, request, host+"/"+name, which)
	} else if name, which, found := cutLast(path, "/blobs/"); found {
		r.serveBlob(w, host+"/"+name, digest.Digest(which))
	} else if path != "" {
		refuse(w, http.StatusNotFound, "UNSUPPORTED", "no such path")
	}
}

// serveManifest answers for a tag or a digest.
func (r *Registry) serveManifest(w http.ResponseWriter, request *http.Request, name, which string) {
	separator := ":"
	if strings.Contains(which, ":") {
		separator = "@"
	}
	key := name + separator + which
	if !r.act(key, w, request) {
		return
	}
	manifest, data := r.manifest(name, which)
	if data == nil {
		refuse(w, http.StatusNotFound, "MANIFEST_UNKNOWN", "there is no image "+key)
		return
	}
	if request.Method == http.MethodHead {
		r.mu.Lock()
		r.pulls[key]++
		r.mu.Unlock()
	}
	w.Header().Set("Docker-Content-Digest", manifest.String())
	send(w, v1.MediaTypeImageManifest, data)
}

func (r *Registry) manifest(name, which string) (digest.Digest, []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	from := r.repositories[name]
	if from == nil {
		return "", nil
	}
	manifest, tagged := from.tags[which]
	if !tagged {
		manifest = digest.Digest(which)
	}
	if !from.manifests[manifest] {
		return "", nil
	}
	return manifest, from.blobs[manifest]
}

func (r *Registry) serveBlob(w http.ResponseWriter, name string, which digest.Digest) {
	r.mu.Lock()
	var data []byte
	if from := r.repositories[name]; from != nil {
		data = from.blobs[which]
	}
	r.mu.Unlock()
	if data == nil {
		refuse(w, http.StatusNotFound, "BLOB_UNKNOWN", "there is no blob "+which.String()+" in "+name)
		return
	}
	w.Header().Set("Docker-Content-Digest", which.String())
	send(w, "application/octet-stream", data)
}

// send answers with data; net/http leaves it out where only the header was asked for.
func send(w http.ResponseWriter, contentType string, data []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data)
}

// refuse answers with an error as the specification writes it.
func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"errors": []map[string]string{{"code": code, "message": message}}})
}

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}
