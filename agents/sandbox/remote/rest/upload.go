package rest

import (
	"io"
	"mime/multipart"
)

// Upload is the body of a form with a file, whose content is written as it is sent, and again each time
// that the request is. fields come before the file.
func Upload(name string, content func(io.Writer) error, fields map[string]string) (body func() (io.ReadCloser, error), contentType string) {
	boundary := multipart.NewWriter(io.Discard).Boundary()
	open := func() (io.ReadCloser, error) {
		r, w := io.Pipe()
		go func() { // ends with the reader, which the transport closes
			form := multipart.NewWriter(w)
			err := form.SetBoundary(boundary)
			for k, v := range fields {
				if err == nil {
					err = form.WriteField(k, v)
				}
			}
			var part io.Writer
			if err == nil {
				part, err = form.CreateFormFile("file", name)
			}
			if err == nil {
				err = content(part)
			}
			if err == nil {
				err = form.Close()
			}
			w.CloseWithError(err)
		}()
		return r, nil
	}
	return open, "multipart/form-data; boundary=" + boundary
}
