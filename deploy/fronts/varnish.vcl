# SPDX-License-Identifier: Apache-2.0
# Varnish in front of imageproxyd, with imageproxyd.json beside this file.
vcl 4.1;

backend imageproxyd {
    .host = "127.0.0.1";
    .port = "8080";
}

# The daemon's admin listener, for purges.
backend admin {
    .host = "127.0.0.1";
    .port = "8081";
}

# Who may purge.
acl operators {
    "127.0.0.1"/32;
}

sub vcl_recv {
    set req.backend_hint = imageproxyd;
    # Only what Varnish has seen itself.
    set req.http.X-Forwarded-For = client.ip;

    # PURGE /img?url=… removes all that is made of a source, DELETE /cache?tag=… what has a tag: in the daemon, then here.
    if (req.method == "PURGE" || req.method == "DELETE") {
        if (client.ip !~ operators) {
            return (synth(403, "Only operators may purge"));
        }
        set req.backend_hint = admin;
        # The admin listener is asked by its address.
        set req.http.Host = "127.0.0.1";
        return (pass);
    }

    # One copy for each format, not for each spelling of Accept.
    if (req.http.Accept ~ "image/avif") {
        set req.http.Accept = "image/avif,image/webp,*/*";
    } elsif (req.http.Accept ~ "image/webp") {
        set req.http.Accept = "image/webp,*/*";
    } else {
        set req.http.Accept = "*/*";
    }
    # Pictures do not depend on them.
    unset req.http.Cookie;
}

sub vcl_backend_response {
    # For purges: the source as the URL spells it.
    set beresp.http.X-Source = regsub(bereq.url, "^.*[?&](url(64)?=[^&]*).*$", "\1");
}

sub vcl_deliver {
    if ((req.method == "PURGE" || req.method == "DELETE") && resp.status == 200) {
        if (req.url ~ "^/cache\?tag=[A-Za-z0-9_.:-]+$") {
            ban("obj.http.Surrogate-Key ~ (^|\s)" + regsub(req.url, "^/cache\?tag=", "") + "(\s|$)");
        } elsif (req.url ~ "[?&]url(64)?=") {
            ban("obj.http.X-Source == " + regsub(req.url, "^.*[?&](url(64)?=[^&]*).*$", "\1"));
        } else {
            ban("obj.status > 0");
        }
    }
    unset resp.http.X-Source;
    unset resp.http.Surrogate-Key;
    unset resp.http.X-Accel-Expires;
}
